//! Reads the recorded conversations under `tests/fixtures`.

use std::path::PathBuf;

/// One recorded message.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// `file:line`, for failure texts.
    pub(crate) at: String,
    /// Connection number within the file.
    pub(crate) connection: u32,
    /// Whether the client sent it.
    pub(crate) from_client: bool,
    /// Bytes as they were on the socket.
    pub(crate) bytes: Vec<u8>,
}

/// Every message of every recording, in order.
pub(crate) fn messages() -> Vec<Message> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "hex"))
        .collect();
    files.sort();
    files.iter().flat_map(read).collect()
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn read(path: &PathBuf) -> Vec<Message> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'))
        .filter_map(|(number, line)| parse(&format!("{name}:{}", number + 1), line))
        .collect()
}

/// A line; `None` for the empty HTTP/2 answer to signout.
fn parse(at: &str, line: &str) -> Option<Message> {
    let mut fields = line.split_whitespace();
    let direction = fields.next()?;
    assert!(matches!(direction, "C>S" | "S>C"), "{at}: {direction}");
    let connection = fields.next().unwrap().parse().unwrap();
    let bytes = unhex(fields.next()?);
    Some(Message {
        at: at.to_owned(),
        connection,
        from_client: direction == "C>S",
        bytes,
    })
}

/// `(name, binary, compact)` of each line of `values.tsv`.
pub(crate) fn values() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let text = std::fs::read_to_string(fixtures().join("values.tsv")).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let fields: Vec<_> = line.split('\t').collect();
            (fields[0].to_owned(), unhex(fields[1]), unhex(fields[2]))
        })
        .collect()
}

/// Bytes of a hex text.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digit = |b: u8| u8::try_from(char::from(b).to_digit(16).unwrap()).unwrap();
    text.as_bytes()
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}
