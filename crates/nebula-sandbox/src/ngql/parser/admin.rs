//! SHOW, hosts, jobs, balance, configuration.

use super::{Parsed, Parser};
use crate::{
    line::Role,
    meta::{
        message::Balance,
        model::{HostPort, JobKind, SchemaKind},
    },
    ngql::{
        ParseError,
        ast::{Show, Stmt},
        lexer::Token,
        print,
    },
};

impl Parser<'_> {
    pub(super) fn admin(&mut self) -> Parsed<Stmt> {
        match self.one_of(&["SHOW", "ADD", "SUBMIT", "STOP", "RECOVER", "BALANCE", "GET"])? {
            Some("SHOW") => self.show().map(Stmt::Show),
            Some("ADD") => {
                self.words(&["HOSTS"])?;
                let hosts = self.host_list()?;
                if self.accept("INTO")? {
                    self.accept("NEW")?;
                    self.words(&["ZONE"])?;
                    self.text()?;
                }
                Ok(Stmt::AddHosts(hosts))
            }
            Some("SUBMIT") => self.submit(),
            Some("STOP") => {
                self.words(&["JOB"])?;
                Ok(Stmt::StopJob(self.int()?))
            }
            Some("RECOVER") => {
                self.words(&["JOB"])?;
                if matches!(self.token, Token::Int(_)) {
                    self.int()?;
                }
                Ok(Stmt::RecoverJob)
            }
            Some("BALANCE") => match self.one_of(&["LEADER", "DATA"])? {
                Some("LEADER") => Ok(Stmt::BalanceLeader),
                Some(_) => self.balance_data().map(Stmt::BalanceData),
                None => self.error(),
            },
            Some(_) => self.get_configs(),
            None => Err(ParseError::NotSupported("KILL".to_owned())),
        }
    }

    /// `host:port, "host":port`.
    pub(super) fn host_list(&mut self) -> Parsed<Vec<HostPort>> {
        self.comma_list(|parser| {
            let host = parser.host()?;
            parser.sign(":")?;
            let port = u16::try_from(parser.int()?).or_else(|_| parser.error())?;
            Ok(HostPort::new(host, port))
        })
    }

    /// An address without quotes is not one token for the lexer: `192.168.8.61` reads as numbers and points.
    fn host(&mut self) -> Parsed<String> {
        if let Token::Text(_) = self.token {
            return self.text();
        }
        let rest = self
            .text
            .get(self.start..)
            .unwrap_or_default()
            .trim_ascii_start();
        let end = rest
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || b".-_".contains(b)));
        let bytes = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let host = String::from_utf8_lossy(bytes).into_owned();
        if host.is_empty() {
            return self.error();
        }
        while !self.is_sign(":") && self.token != Token::End {
            self.advance()?;
        }
        Ok(host)
    }

    /// After `BALANCE DATA`.
    fn balance_data(&mut self) -> Parsed<Balance> {
        if let Token::Int(_) = self.token {
            return self.int().map(Balance::Show);
        }
        match self.one_of(&["STOP", "RESET", "REMOVE"])? {
            Some("STOP") => Ok(Balance::Stop),
            Some("RESET") => self.words(&["PLAN"]).map(|()| Balance::Reset),
            Some(_) => self.host_list().map(Balance::Start),
            None => Ok(Balance::Start(Vec::new())),
        }
    }

    fn submit(&mut self) -> Parsed<Stmt> {
        self.words(&["JOB"])?;
        let kind = match self.one_of(&["COMPACT", "FLUSH", "STATS", "BALANCE"])? {
            Some("COMPACT") => JobKind::Compact,
            Some("FLUSH") => JobKind::Flush,
            Some("STATS") => JobKind::Stats,
            Some(_) => match self.one_of(&["LEADER", "DATA"])? {
                Some("LEADER") => JobKind::LeaderBalance,
                Some(_) => JobKind::DataBalance,
                None => return self.error(),
            },
            None => return self.error(),
        };
        if matches!(self.token, Token::Int(_)) {
            self.int()?;
        }
        let mut argument = String::new();
        if kind == JobKind::DataBalance && self.accept("REMOVE")? {
            argument = HostPort::join(&self.host_list()?);
        }
        Ok(Stmt::SubmitJob(kind, argument))
    }

    fn show(&mut self) -> Parsed<Show> {
        let words = [
            "SPACES",
            "TAGS",
            "EDGES",
            "TAG",
            "EDGE",
            "CREATE",
            "HOSTS",
            "PARTS",
            "PART",
            "STATS",
            "JOBS",
            "JOB",
            "LOCAL",
            "SESSIONS",
            "QUERIES",
            "META",
            "CONFIGS",
            "USERS",
            "CHARSET",
            "ZONES",
            "SNAPSHOTS",
        ];
        Ok(match self.one_of(&words)? {
            Some("SPACES") => Show::Spaces,
            Some("TAGS") => Show::Schemas(SchemaKind::Tag),
            Some("EDGES") => Show::Schemas(SchemaKind::Edge),
            Some("TAG") => self.show_indexes(SchemaKind::Tag)?,
            Some("EDGE") => self.show_indexes(SchemaKind::Edge)?,
            Some("CREATE") => self.show_create()?,
            Some("HOSTS") => self.show_hosts()?,
            Some("PARTS" | "PART") => match self.token {
                Token::Int(_) => Show::Parts(self.comma_list(Self::int)?),
                _ => Show::Parts(Vec::new()),
            },
            Some("STATS") => Show::Stats,
            Some("JOBS") => Show::Jobs,
            Some("JOB") => Show::Job(self.int()?),
            Some("LOCAL") => {
                self.words(&["SESSIONS"])?;
                Show::Sessions
            }
            Some("SESSIONS") => Show::Sessions,
            Some("QUERIES") => Show::Queries,
            Some("META") => {
                self.words(&["LEADER"])?;
                Show::MetaLeader
            }
            Some("CONFIGS") => Show::Configs(self.module()?),
            Some("USERS") => Show::Users,
            Some("CHARSET") => Show::Charset,
            Some("ZONES") => Show::Zones,
            Some("SNAPSHOTS") => Show::Snapshots,
            _ => return self.error(),
        })
    }

    fn show_indexes(&mut self, kind: SchemaKind) -> Parsed<Show> {
        if self.accept("INDEX")? {
            self.words(&["STATUS"])?;
            return Ok(Show::IndexStatus(kind));
        }
        self.words(&["INDEXES"])?;
        Ok(Show::Indexes(kind))
    }

    fn show_create(&mut self) -> Parsed<Show> {
        if self.accept("SPACE")? {
            return Ok(Show::CreateSpace(self.name()?));
        }
        let kind = self.schema_kind()?;
        Ok(Show::CreateSchema(kind, self.name()?))
    }

    fn show_hosts(&mut self) -> Parsed<Show> {
        let role = match self.one_of(&["GRAPH", "META", "STORAGE"])? {
            Some("GRAPH") => Some(Role::Graphd),
            Some("META") => Some(Role::Metad),
            Some(_) => Some(Role::Storaged),
            None => None,
        };
        Ok(Show::Hosts(role))
    }

    fn module(&mut self) -> Parsed<Option<String>> {
        let word = self.one_of(&["GRAPH", "META", "STORAGE"])?;
        Ok(word.map(str::to_owned))
    }

    /// `[module:]name`.
    fn config_name(&mut self) -> Parsed<(Option<String>, String)> {
        let module = self.module()?;
        if module.is_some() {
            self.sign(":")?;
        }
        Ok((module, self.name()?))
    }

    fn get_configs(&mut self) -> Parsed<Stmt> {
        self.words(&["CONFIGS"])?;
        let (module, name) = self.config_name()?;
        Ok(Stmt::GetConfigs {
            module,
            name: Some(name),
        })
    }

    /// After `UPDATE CONFIGS`: `[module:]name = value` or `= {key = value, …}`.
    pub(super) fn update_configs(&mut self) -> Parsed<Stmt> {
        let (module, name) = self.config_name()?;
        self.sign("=")?;
        if !self.accept_sign("{")? {
            let value = self.expr()?;
            let value = match &value {
                crate::ngql::ast::Expr::Const(value) => print::value_text(value, false),
                other => other.to_string(),
            };
            return Ok(Stmt::UpdateConfigs {
                module,
                name,
                value,
            });
        }
        let pairs = self.comma_list(|parser| {
            let key = parser.text()?;
            parser.sign("=")?;
            let value = parser.advance()?;
            Ok((key, plain(&value)))
        })?;
        self.sign("}")?;
        let map: serde_json::Map<_, _> = pairs.into_iter().map(|(k, v)| (k, v.into())).collect();
        let value = serde_json::Value::from(map).to_string();
        Ok(Stmt::UpdateConfigs {
            module,
            name,
            value,
        })
    }
}

/// A value inside a map of options: always text.
fn plain(token: &Token<'_>) -> String {
    match token {
        Token::Word(word) | Token::Quoted(word) => (*word).to_owned(),
        Token::Int(number) => number.to_string(),
        Token::Float(number) => number.to_string(),
        Token::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Token::Sign(sign) => (*sign).to_owned(),
        Token::End => String::new(),
    }
}
