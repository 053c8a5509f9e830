//! The daemons' flags: which exist (`flags.tsv`), their values, and reading them the way gflags does.
//!
//! What a user must be able to rely on here is the *silence* of gflags: a flag file with an unknown name or a bad
//! value loses that line without a word, the last duplicate wins, blanks at the end belong to the value.

mod file;
mod value;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicU64, Ordering},
    },
};

pub use value::{Kind, Value};

use crate::{
    line::{Line, Role},
    storage::IdHash,
};

/// How a flag can change while the daemon runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Set by the conf file only (`UPDATE CONFIGS` refuses it).
    Reboot,
    /// Registered as mutable.
    Mutable,
    /// A map of options, mutable as a whole.
    Nested,
}

/// One flag of a process.
#[derive(Debug, Clone)]
pub struct Flag {
    pub kind: Kind,
    pub value: Value,
    pub default: Value,
    pub mode: Mode,
    pub description: &'static str,
}

/// All flags of one process. Cheap to read; `generation` tells when something changed.
#[derive(Debug)]
pub struct Flags {
    table: RwLock<HashMap<&'static str, Flag, IdHash>>,
    generation: AtomicU64,
    program: &'static str,
}

/// A command line gflags would refuse.
#[derive(Debug, thiserror::Error)]
pub enum CommandLineError {
    #[error("ERROR: unknown command line flag '{0}'")]
    Unknown(String),
    #[error("ERROR: illegal value '{value}' specified for flag '{name}'")]
    Illegal { name: String, value: String },
    #[error("ERROR: flag '{0}' is missing its argument")]
    NoValue(String),
    #[error("ERROR: unable to open {0}")]
    File(PathBuf),
}

impl Flags {
    /// The flags this role has on this line, all at their code defaults.
    pub fn new(line: Line, role: Role) -> Self {
        Self {
            table: RwLock::new(table(line, role)),
            generation: AtomicU64::new(1),
            program: role.binary(),
        }
    }

    /// Applies a command line (without the program name), reading flag files where they are named.
    pub fn apply_args(&self, args: &[String]) -> Result<(), CommandLineError> {
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(body) = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-')) else {
                continue;
            };
            let (name, value) = self.split_argument(body);
            let value = match value {
                Some(value) => value.to_owned(),
                None => rest
                    .next()
                    .cloned()
                    .ok_or_else(|| CommandLineError::NoValue(name.to_owned()))?,
            };
            self.apply_arg(name, &value)?;
        }
        Ok(())
    }

    fn apply_arg(&self, name: &str, value: &str) -> Result<(), CommandLineError> {
        if name == "flagfile" {
            self.read_file(value)?;
        }
        match self.set(name, value) {
            Ok(()) => Ok(()),
            Err(SetError::Unknown) => Err(CommandLineError::Unknown(name.to_owned())),
            Err(SetError::Illegal) => Err(CommandLineError::Illegal {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
        }
    }

    fn read_file(&self, path: &str) -> Result<(), CommandLineError> {
        let text = std::fs::read_to_string(path)
            .map_err(|_| CommandLineError::File(PathBuf::from(path)))?;
        self.apply_file_text(&text);
        Ok(())
    }

    /// Applies the text of a flag file; whatever is wrong in it is skipped in silence.
    pub fn apply_file_text(&self, text: &str) {
        for body in file::relevant_lines(text, self.program) {
            let (name, value) = self.split_argument(body);
            let Some(value) = value else { continue };
            if name == "flagfile" && self.read_file(value).is_err() {
                continue;
            }
            self.set(name, value).ok();
        }
    }

    /// `name=value`, `boolflag` and `noboolflag` (as gflags splits them).
    fn split_argument<'a>(&self, body: &'a str) -> (&'a str, Option<&'a str>) {
        if let Some((name, value)) = body.split_once('=') {
            return (name, Some(value));
        }
        if self.kind(body) == Some(Kind::Bool) {
            return (body, Some("true"));
        }
        match body.strip_prefix("no") {
            Some(name) if self.kind(name) == Some(Kind::Bool) => (name, Some("false")),
            _ => (body, None),
        }
    }

    fn kind(&self, name: &str) -> Option<Kind> {
        self.read().get(name).map(|flag| flag.kind)
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<&'static str, Flag, IdHash>> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets a flag from text.
    pub fn set(&self, name: &str, text: &str) -> Result<(), SetError> {
        let mut flags = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let flag = flags.get_mut(name).ok_or(SetError::Unknown)?;
        flag.value = flag.kind.read(text).ok_or(SetError::Illegal)?;
        drop(flags);
        self.generation.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Rises with every change.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// A copy of one flag.
    pub fn get(&self, name: &str) -> Option<Flag> {
        self.read().get(name).cloned()
    }

    /// All flags in the order of their names.
    pub fn all(&self) -> Vec<(&'static str, Flag)> {
        let table = self.read();
        let mut all: Vec<_> = table.iter().map(|(k, v)| (*k, v.clone())).collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all
    }

    /// Text value; empty when the line has no such flag.
    pub fn text(&self, name: &str) -> String {
        match self.read().get(name).map(|flag| &flag.value) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        }
    }

    /// Integer value; 0 when the line has no such flag.
    pub fn int(&self, name: &str) -> i64 {
        match self.read().get(name).map(|flag| &flag.value) {
            Some(Value::Int(i)) => *i,
            _ => 0,
        }
    }

    /// Integer value that cannot be negative.
    pub fn count(&self, name: &str) -> u64 {
        u64::try_from(self.int(name)).unwrap_or(0)
    }

    /// A port number; 0 when out of range.
    pub fn port(&self, name: &str) -> u16 {
        u16::try_from(self.int(name)).unwrap_or(0)
    }

    /// Floating-point value; 0 when the line has no such flag.
    pub fn float(&self, name: &str) -> f64 {
        match self.read().get(name).map(|flag| &flag.value) {
            Some(Value::Float(x)) => *x,
            _ => 0.0,
        }
    }

    /// Truth value; false when the line has no such flag.
    pub fn on(&self, name: &str) -> bool {
        matches!(
            self.read().get(name).map(|flag| &flag.value),
            Some(Value::Bool(true))
        )
    }
}

/// Why a flag was not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetError {
    Unknown,
    Illegal,
}

fn table(line: Line, role: Role) -> HashMap<&'static str, Flag, IdHash> {
    include_str!("flags.tsv")
        .lines()
        .filter_map(|row| table_row(row, line, role))
        .collect()
}

fn table_row(row: &'static str, line: Line, role: Role) -> Option<(&'static str, Flag)> {
    let mut cells = row.split('\t');
    let (name, roles, kind) = (cells.next()?, cells.next()?, cells.next()?);
    let (default, lines, mode) = (cells.next()?, cells.next()?, cells.next()?);
    if name.starts_with('#') || !roles.contains(role.letter()) || !lines.contains(line.letter()) {
        return None;
    }
    let kind = Kind::parse(kind);
    let value = kind.read(default)?;
    let flag = Flag {
        kind,
        default: value.clone(),
        value,
        mode: match mode {
            "M" => Mode::Mutable,
            "N" => Mode::Nested,
            _ => Mode::Reboot,
        },
        description: cells.next().unwrap_or_default(),
    };
    Some((name, flag))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graphd(text: &str) -> Flags {
        let flags = Flags::new(Line::V3_8_0, Role::Graphd);
        flags.apply_file_text(text);
        flags
    }

    #[test]
    fn every_table_row_has_a_valid_default() {
        for line in Line::ALL {
            for role in Role::ALL {
                assert!(table(line, role).len() > 30, "{line} {role:?}");
            }
        }
        for row in include_str!("flags.tsv")
            .lines()
            .filter(|r| !r.starts_with('#'))
        {
            let cells: Vec<_> = row.split('\t').collect();
            assert_eq!(cells.len(), 7, "{row}");
            assert!(Kind::parse(cells[2]).read(cells[3]).is_some(), "{row}");
        }
    }

    #[test]
    fn flag_file_rules_of_gflags() {
        let cases: &[(&str, &str, &str)] = &[
            ("--port=1\n--port=2", "port", "2"),
            ("--port=9669\n--port=x", "port", "9669"),
            ("--local_ip=a  ", "local_ip", "\"a  \""),
            ("  --port=5", "port", "5"),
            ("-port=6", "port", "6"),
            ("# --port=7", "port", "3699"),
            ("--port=8 # no comment here", "port", "3699"),
            ("--typo_flag=1\n--port=9", "port", "9"),
            ("--nodaemonize", "daemonize", "false"),
            ("--daemonize=F", "daemonize", "false"),
            ("--enable_authorize", "enable_authorize", "true"),
            ("port=10", "port", "3699"),
            ("nebula-metad\n--port=11", "port", "3699"),
            ("nebula-*\n--port=12", "port", "12"),
            ("nebula-metad nebula-graphd\n--port=13", "port", "13"),
            ("nebula-metad\nnebula-graphd\n--port=14", "port", "14"),
            ("--port=0x10", "port", "16"),
        ];
        for (text, name, expected) in cases {
            let found = graphd(text).get(name).expect("flag").value.to_string();
            assert_eq!(&found, expected, "{text:?}");
        }
    }

    #[test]
    fn command_line_refuses_what_a_file_forgives() {
        let flags = Flags::new(Line::V3_8_0, Role::Metad);
        let run = |arg: &str| {
            flags
                .apply_args(&[arg.to_owned()])
                .map_err(|e| e.to_string())
        };
        assert!(
            run("--nonsense=1")
                .unwrap_err()
                .contains("unknown command line flag")
        );
        assert!(run("--port=abc").unwrap_err().contains("illegal value"));
        assert!(run("--port=77").is_ok());
        assert_eq!(flags.int("port"), 77);
    }

    #[test]
    fn lines_differ() {
        assert!(!Flags::new(Line::V2_0_1, Role::Storaged).on("local_config"));
        assert!(Flags::new(Line::V3_8_0, Role::Storaged).on("local_config"));
        assert!(
            Flags::new(Line::V3_8_0, Role::Graphd)
                .get("ws_h2_port")
                .is_none()
        );
        assert!(
            Flags::new(Line::V2_6_2, Role::Graphd)
                .get("ws_h2_port")
                .is_some()
        );
    }
}
