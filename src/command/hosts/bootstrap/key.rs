//! The public key that hosts are given.

use std::path::{Path, PathBuf};

use nbctl_core::failure::Failure;
use nbctl_core::inventory::Host;

use crate::remote::Here;

/// Looked for in `~/.ssh` when the inventory names none.
const USUAL: [&str; 2] = ["id_ed25519.pub", "id_rsa.pub"];

/// `given`, else that of the inventory's `identity_file`, which is made when it is missing (not in a dry run), else the
/// user's own.
pub(super) async fn public(
    host: &Host,
    given: Option<&Path>,
    dry: bool,
) -> Result<String, Failure> {
    if let Some(file) = given {
        return read(file);
    }
    let home = std::env::var_os("HOME")
        .map(PathBuf::from)
        .unwrap_or_default();
    let Some(private) = &host.ssh.identity_file else {
        let own = USUAL.iter().map(|name| home.join(".ssh").join(name));
        let own = own.into_iter().find(|path| path.exists()).ok_or_else(|| {
            Failure::usage("there is no key to give to the hosts")
                .hint("name one with `ssh.identity_file` or --key, or make one with: ssh-keygen -t ed25519")
        })?;
        return read(&own);
    };
    let private = match private.strip_prefix("~") {
        Ok(rest) => home.join(rest),
        Err(_) => private.clone(),
    };
    if !private.exists() && dry {
        return Ok(format!("ssh-ed25519 … (to be made: {})", private.display()));
    }
    if !private.exists() {
        make(&private).await?;
    }
    let beside = PathBuf::from(format!("{}.pub", private.display()));
    if beside.exists() {
        return read(&beside);
    }
    let path = private.display().to_string();
    let printed = keygen(&["-y", "-f", &path]).await?;
    line(&printed, &private)
}

async fn make(private: &Path) -> Result<(), Failure> {
    if let Some(folder) = private.parent() {
        std::fs::create_dir_all(folder).map_err(|error| unreadable(folder, &error))?;
    }
    let path = private.display().to_string();
    let args = ["-q", "-t", "ed25519", "-N", "", "-C", "nbctl", "-f", &path];
    keygen(&args).await.map(drop)
}

async fn keygen(args: &[&str]) -> Result<String, Failure> {
    let program = Path::new("ssh-keygen");
    let here = Here {
        program,
        args,
        env: &[],
    };
    here.run(|_| ()).await
}

fn read(file: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
    line(&text, file)
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read the key: {error}")).at(file.display().to_string())
}

/// One public key; a private one must never reach a host.
fn line(text: &str, file: &Path) -> Result<String, Failure> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let is_public = |line: &&str| {
        ["ssh-", "ecdsa-", "sk-"]
            .iter()
            .any(|kind| line.starts_with(kind))
    };
    line.filter(is_public)
        .map(str::to_owned)
        .ok_or_else(|| Failure::usage("is no public key of OpenSSH").at(file.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_keys_go_out() {
        let cases = [
            ("ssh-ed25519 AAAA nbctl\n", Some("ssh-ed25519 AAAA nbctl")),
            ("\nssh-rsa AAAA\nssh-rsa BBBB\n", Some("ssh-rsa AAAA")),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\n", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let found = line(text, Path::new("key")).ok();
            assert_eq!(found.as_deref(), expected, "{text:?}");
        }
    }
}
