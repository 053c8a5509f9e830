//! What `local_config=false` means: metad remembers a daemon's mutable flags from its first start on, and from then
//! on metad's values win over the conf file. The default up to 2.0.1, and why edits of a conf have no effect there.

use super::{
    MetaClient,
    message::{Reply, Request},
};
use crate::flags::{Flags, Mode, Value};

/// Registers the mutable flags of `module` where metad does not know them yet, then takes metad's values.
pub async fn sync(metas: &MetaClient, flags: &Flags, module: &str) {
    if flags.on("local_config") {
        return;
    }
    let mutable = flags.all().into_iter();
    let mutable =
        mutable.filter(|(name, flag)| flag.mode != Mode::Reboot && !name.starts_with("sandbox_"));
    let values = mutable
        .map(|(name, flag)| (name.to_owned(), plain(&flag.value)))
        .collect();
    let module = module.to_owned();
    let request = Request::RegisterConfigs {
        module: module.clone(),
        values,
    };
    if metas.ask(&request).await.is_err() {
        return;
    }
    let Ok(Reply::Configs(remembered)) = metas.ask(&Request::Configs(Some(module))).await else {
        return;
    };
    for (_, name, value) in remembered {
        if flags
            .get(&name)
            .is_some_and(|flag| plain(&flag.value) != value)
        {
            flags.set(&name, &value).ok();
        }
    }
}

/// The value as a conf file would have it.
fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    }
}
