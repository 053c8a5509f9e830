//! How a script is put on the wire, and how its process tree is found again.
//!
//! Purpose: the same framing for ssh and for this machine, in plain POSIX sh (dash, bash 4.2, busybox).
//! Duties: the text goes by standard input, so nothing of it shows in a process list; it is run only when all
//! of it has arrived; it cannot eat itself by reading standard input; it carries a token in its command
//! line by which [`kill_text`] ends the whole tree, which ssh alone would leave running; the token, printed at
//! the end, shows that all of the output has come back.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Exit code of `timeout(1)` when the time was over.
pub(super) const TIMED_OUT: i32 = 124;

/// Line a script prints, alone, when its check said "already so".
pub const ALREADY_SO: &str = "::nbctl:already-so::";

/// Runs `$0` (the token) for at most `$1` seconds; `timeout(1)` also ends scripts whose connection is gone.
const WRAP: &str = concat!(
    "if timeout -k 2 5 true 2>/dev/null; then exec $S timeout -k 2 \"$1\" sh -s \"$0\"; ",
    "else exec $S sh -s \"$0\"; fi"
);

/// Root needs no sudo, and small hosts have none.
const SUDO: &str = "if [ \"$(id -u)\" = 0 ]; then S=; else S=\"sudo -n\"; fi; ";
const NO_SUDO: &str = "S=; ";

/// Process groups in which a process carries the token. `printf` is built in, so the token shows in no process of this
/// script.
const GROUPS: &str = r#"groups_of() {
  printf '%s\n' TOKEN | grep -lF -f - /proc/[0-9]*/cmdline 2>/dev/null | while IFS= read -r f; do
    s=$(cat "${f%/cmdline}/stat" 2>/dev/null) || continue
    set -- ${s##*) }
    echo "$3"
  done | sort -u
}
"#;

/// Asks each of them to end, then insists.
const KILL: &str = r#"own=$(cat /proc/$$/stat); set -- ${own##*) }; own=$3
end() {
  for g in $(groups_of); do
    if [ "$g" -gt 1 ] && [ "$g" != "$own" ]; then kill -s "$1" -- "-$g" 2>/dev/null; fi
  done
}
end TERM
for i in 1 2 3 4 5 6 7 8 9 10; do
  if [ -z "$(groups_of)" ]; then exit 0; fi
  sleep 0.1 2>/dev/null || sleep 1
done
end KILL
exit 0"#;

/// Says `waits` when a sudo in one of them has had no child for a second: what it shall run is its child.
const WAITING: &str = r#"waiting() {
  groups=" $(groups_of | tr '\n' ' ') " sudos= parents=
  for f in /proc/[0-9]*/stat; do
    IFS= read -r s 2>/dev/null <"$f" || continue
    set -- ${s%% *} ${s##*) }
    parents="$parents $3 "
    case $s in *' (sudo) '*) case $groups in *" $4 "*) sudos="$sudos $1" ;; esac ;; esac
  done
  for p in $sudos; do
    case $parents in *" $p "*) ;; *) echo "$p" ;; esac
  done
}
first=$(waiting)
if [ -z "$first" ]; then exit 0; fi
sleep 1
second=" $(waiting | tr '\n' ' ') "
for p in $first; do
  case $second in *" $p "*) echo waits; exit 0 ;; esac
done"#;

/// A name for one run that no other run has, here or elsewhere; none is the beginning of another.
pub(super) fn token() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let serial = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{serial}.", of_process())
}

/// What the tokens of this process begin with: whoever takes over from it ends its scripts by it.
pub fn of_process() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| format!("nbctl-{:016x}", random()))
}

/// Differs from call to call and from process to process; the standard library seeds its hash maps by it.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Command that runs a script given on standard input.
pub(super) fn argv(token: &str, sudo: bool, timeout: Duration) -> Vec<String> {
    let seconds = timeout.as_secs() + u64::from(timeout.subsec_nanos() > 0);
    let text = format!("{}{WRAP}", if sudo { SUDO } else { NO_SUDO });
    strings(&["sh", "-c", &text, token, &seconds.max(1).to_string()])
}

/// Last of the standard output of a script or [`answering`] program that was not killed.
pub(super) fn end_mark(token: &str) -> String {
    format!("\n{token}\n")
}

/// The one-line `program`, its output closed by the [`end_mark`].
pub(super) fn answering(program: &str) -> String {
    format!("( {program} ); c=$?; printf '\\n%s\\n' \"$0\"; exit $c")
}

/// Command that runs the one-line `program` with `args` as `$1…`; standard input is data.
pub(super) fn data_argv(token: &str, sudo: bool, program: &str, args: &[&str]) -> Vec<String> {
    let start = if sudo { SUDO } else { NO_SUDO };
    let text = format!("{start}exec $S sh -c \"$1\" \"$0\" \"$@\"");
    // Within `program` the first argument is the program itself.
    let program = format!("shift; LC_ALL=C; export LC_ALL; {program}");
    let mut all = strings(&["sh", "-c", &text, token, &program]);
    all.extend(strings(args));
    all
}

/// What is sent to `sh -s`: a group is parsed to its end before any of it is run. A group of its own shell, so that
/// `exit` does not go past the [`end_mark`].
pub(super) fn framed(text: &str) -> String {
    format!(
        "LC_ALL=C; PATH=\"$PATH:/usr/local/sbin:/usr/sbin:/sbin\"; export LC_ALL PATH\n\
         (\n{text}\n) </dev/null\n\
         c=$?; printf '\\n%s\\n' \"$1\"; exit $c\n"
    )
}

/// `action` unless `check` (POSIX sh) ends with 0, in one script.
pub fn unless(check: &str, action: &str) -> String {
    format!("if (\n{check}\n) >/dev/null 2>&1; then echo '{ALREADY_SO}'; exit 0; fi\n{action}")
}

/// Script that ends every process group in which a process carries `token`.
pub(super) fn kill_text(token: &str) -> String {
    format!("{GROUPS}{KILL}").replace("TOKEN", token)
}

/// Script that says `waits` when a process tree that carries `token` is held up by a sudo that has not begun.
pub(super) fn waiting_text(token: &str) -> String {
    format!("{GROUPS}{WAITING}").replace("TOKEN", token)
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_up() {
        let seconds = |millis| argv("t", false, Duration::from_millis(millis))[4].clone();
        assert_eq!([seconds(0), seconds(1000), seconds(1001)], ["1", "1", "2"]);
    }

    #[test]
    fn tokens_differ() {
        assert_ne!(token(), token());
    }

    #[test]
    fn the_commands_are_one_line() {
        let all = [
            argv("t", true, Duration::from_secs(5)),
            data_argv("t", true, "cat", &["a"]),
        ];
        assert!(all.iter().flatten().all(|part| !part.contains('\n')));
    }
}
