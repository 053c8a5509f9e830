//! First contact with a host that knows no key of ours: a password, typed at a terminal, for ssh and for sudo.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::bed::Bed;
use crate::kill::Hosts as _;
use crate::ran::nbctl;

const PASSWORD: &str = "sesame 1$x";

/// An administrator with a password, on a host that takes passwords.
const BEGIN: &str = "useradd -m boss && echo 'boss:sesame 1$x' | chpasswd && echo 'boss ALL=(ALL) ALL' >/etc/sudoers.d/boss && \
     sed -i 's/^PasswordAuthentication no/PasswordAuthentication yes/' /etc/ssh/sshd_config.d/bed.conf && pkill -HUP -o -x sshd";

const END: &str = "sed -i 's/^PasswordAuthentication yes/PasswordAuthentication no/' /etc/ssh/sshd_config.d/bed.conf; pkill -HUP -o -x sshd; \
     rm -f /etc/sudoers.d/*boss* /etc/sudoers.d/*newbie* /etc/security/limits.d/60-nbctl.conf; userdel -r boss; userdel -r newbie; true";

/// The host as an inventory of its own, with a key that does not exist yet.
fn inventory(bed: &Bed) -> PathBuf {
    let dir = bed.dir();
    let file = dir.join("first.yaml");
    let text = format!(
        "format: 1\ncluster: first\nnebula: {{version: 3.8.0, packages: packages, deploy_dir: /home/newbie/nebula}}\n\
         ssh: {{user: newbie, identity_file: {0}/key, known_hosts_file: {0}/known}}\n\
         hosts:\n  - {{name: h1, address: {1}, roles: [metad, graphd, storaged]}}\n",
        dir.display(),
        bed.address("h1")
    );
    fs::write(&file, text).unwrap();
    file
}

/// Types the password once it is asked for; what the terminal showed.
fn typed(bed: &Bed, password: &str) -> String {
    let args = [
        "hosts",
        "bootstrap",
        "--login",
        "boss",
        "--ask-password",
        "--yes",
    ];
    let plain = nbctl(bed.dir(), &inventory(bed), &args);
    let words = std::iter::once(plain.get_program()).chain(plain.get_args());
    let words: Vec<&str> = words.map(|word| word.to_str().unwrap()).collect();
    let mut script = Command::new("script");
    script
        .args(["-qec", &words.join(" "), "/dev/null"])
        .current_dir(bed.dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = script.spawn().expect("script(1) starts");
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut shown, mut piece, mut told) = (Vec::new(), [0; 4096], false);
    while let Ok(count @ 1..) = output.read(&mut piece) {
        shown.extend_from_slice(&piece[..count]);
        let asked = String::from_utf8_lossy(&shown).contains("password of boss: ");
        if asked && !told {
            // What is typed before the echo is off is thrown away.
            std::thread::sleep(std::time::Duration::from_secs(1));
            writeln!(input, "{password}").unwrap();
            told = true;
        }
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&shown).into_owned()
}

/// `make faults`.
#[test]
#[ignore = "needs test hosts; make faults runs it"]
fn first_contact_by_password_on_test_hosts() {
    let bed = Bed::find().expect("test hosts, NBCTL_BED_DIR");
    let as_root = |text| bed.good(&["exec", "--host", "h1", "--sudo", "--", text]);
    as_root(END);
    as_root(BEGIN);
    let wrong = typed(&bed, "wrong");
    assert!(wrong.contains("cannot log in as boss"), "{wrong}");
    let right = typed(&bed, PASSWORD);
    assert!(right.contains("login works"), "{right}");
    assert_eq!(right.matches("key of newbie").count(), 1, "{right}");
    let again = typed(&bed, PASSWORD);
    assert!(again.contains("nothing to do"), "{again}");
    for shown in [wrong, right, again] {
        assert!(!shown.contains(PASSWORD), "{shown}");
    }
    as_root(END);
}
