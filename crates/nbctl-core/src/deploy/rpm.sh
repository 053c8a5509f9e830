# Before this text stand root (deploy_dir), version (versions/<sha12>), package and options.
# --oldpackage: the way back to an older version is a deploy like any other.
rpm -U --oldpackage $options --prefix "$root/$version" "$package" || exit 1
# The scriptlet leaves configuration files that no daemon of ours reads.
rm -f -- "$root/$version"/etc/nebula-*.conf
