//! The parts of expressions: visiting them, and copies with some of them replaced.

use super::ast::Expr;

type Mapped<E> = Result<Box<Expr>, E>;

impl Expr {
    /// Calls `visit` with every direct part.
    pub fn children<'e>(&'e self, visit: &mut dyn FnMut(&'e Self)) {
        match self {
            Self::Attr(inner, _)
            | Self::Not(inner)
            | Self::Minus(inner)
            | Self::IsNull(inner, _)
            | Self::Aggregate(_, _, Some(inner)) => visit(inner),
            Self::Subscript(a, b) | Self::Binary(_, a, b) => {
                visit(a);
                visit(b);
            }
            Self::Call(_, items) | Self::List(items) => items.iter().for_each(visit),
            Self::Map(items) => items.iter().for_each(|(_, item)| visit(item)),
            Self::Case(on, arms, other) => {
                for inner in [on, other].into_iter().flatten() {
                    visit(inner);
                }
                for (when, then) in arms {
                    visit(when);
                    visit(then);
                }
            }
            _ => {}
        }
    }

    /// A copy in which every part that `change` answers with an expression is that expression.
    pub fn try_map<E>(
        &self,
        change: &mut impl FnMut(&Self) -> Result<Option<Self>, E>,
    ) -> Result<Self, E> {
        if let Some(changed) = change(self)? {
            return Ok(changed);
        }
        Ok(match self {
            Self::Attr(inner, name) => Self::Attr(boxed(inner, change)?, name.clone()),
            Self::Not(inner) => Self::Not(boxed(inner, change)?),
            Self::Minus(inner) => Self::Minus(boxed(inner, change)?),
            Self::IsNull(inner, wanted) => Self::IsNull(boxed(inner, change)?, *wanted),
            Self::Subscript(a, b) => Self::Subscript(boxed(a, change)?, boxed(b, change)?),
            Self::Binary(op, a, b) => Self::Binary(*op, boxed(a, change)?, boxed(b, change)?),
            Self::Call(name, items) => Self::Call(name.clone(), all(items, change)?),
            Self::List(items) => Self::List(all(items, change)?),
            Self::Map(items) => {
                let pair = |(key, item): &(String, Self)| Ok((key.clone(), item.try_map(change)?));
                Self::Map(items.iter().map(pair).collect::<Result<_, E>>()?)
            }
            Self::Case(on, arms, other) => Self::Case(
                optional(on.as_deref(), change)?,
                pairs(arms, change)?,
                optional(other.as_deref(), change)?,
            ),
            other => other.clone(),
        })
    }
}

fn boxed<E>(inner: &Expr, change: &mut impl FnMut(&Expr) -> Result<Option<Expr>, E>) -> Mapped<E> {
    inner.try_map(change).map(Box::new)
}

fn optional<E>(
    inner: Option<&Expr>,
    change: &mut impl FnMut(&Expr) -> Result<Option<Expr>, E>,
) -> Result<Option<Box<Expr>>, E> {
    inner.map(|inner| boxed(inner, change)).transpose()
}

fn all<E>(
    items: &[Expr],
    change: &mut impl FnMut(&Expr) -> Result<Option<Expr>, E>,
) -> Result<Vec<Expr>, E> {
    items.iter().map(|item| item.try_map(change)).collect()
}

fn pairs<E>(
    items: &[(Expr, Expr)],
    change: &mut impl FnMut(&Expr) -> Result<Option<Expr>, E>,
) -> Result<Vec<(Expr, Expr)>, E> {
    let pair = |(a, b): &(Expr, Expr)| Ok((a.try_map(change)?, b.try_map(change)?));
    items.iter().map(pair).collect()
}
