//! Start, stop, restart and reset on the world in memory.

use nbctl_core::deploy::{Life, Observed, Patience};
use nbctl_core::failure::Failure;
use nbctl_core::inventory::{DaemonRole, Role, Selection};
use nbctl_core::plan::Plan;

use crate::world::World;
use crate::{Case, What};

fn plan(case: &Case, world: &World) -> Result<Plan, Failure> {
    let roles: Vec<Role> = case
        .roles
        .iter()
        .map(|role| {
            let role: DaemonRole = role.parse().unwrap();
            Role::from(role)
        })
        .collect();
    let selection = Selection::new(&world.cluster, &case.hosts, &roles)?;
    let facts = world.facts();
    let observed: Observed = world.observed();
    let life = Life {
        cluster: &world.cluster,
        facts: &facts,
        observed: &observed,
        selection: &selection,
    };
    match case.plan {
        What::Start => life.start(),
        What::Stop => Ok(life.stop(Patience::KEEP_DATA)),
        What::Restart => life.restart(Patience::KEEP_DATA),
        What::ResetData => life.reset_data(),
        _ => panic!("not a plan of life"),
    }
}

/// Plans, compares, does it; a stop and a start have nothing to do afterwards.
pub(crate) fn check(name: &str, case: &Case, world: &mut World) {
    let planned = match plan(case, world) {
        Ok(planned) => planned,
        Err(failure) => {
            assert!(!case.error.is_empty(), "{name}: {failure}");
            for part in &case.error {
                assert!(failure.to_string().contains(part), "{name}: {failure}");
            }
            return;
        }
    };
    let expected = case.expect.as_deref().unwrap_or_default();
    assert_eq!(planned.to_string(), expected, "{name}");
    if case.plan == What::ResetData {
        // A metad without data knows nobody.
        world.storageds.clear();
    }
    world.apply(&planned);
    if matches!(case.plan, What::Start | What::Stop) {
        let again = plan(case, world).unwrap();
        assert!(again.is_empty(), "{name}: not idempotent:\n{again}");
    }
}
