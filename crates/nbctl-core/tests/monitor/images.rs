//! Where images come from, and what target files begin and end with.

use nbctl_core::plan::{Action, Step};
use nbctl_core::units::HostName;

use crate::world::{INVENTORY, World};

/// Titles of the steps that bring `component`'s image to h1.
fn image_steps(world: &World, component: &str) -> Vec<String> {
    let plan = world.plan().unwrap().whole();
    let steps = plan.stages.into_iter().flat_map(|stage| stage.steps);
    let of = |step: &Step| step.host == Some(HostName::new("h1")) && step.title.contains(component);
    steps
        .filter(|step| matches!(step.action, Action::Image(_)) && of(step))
        .map(|step| step.title)
        .collect()
}

#[test]
fn a_registry_of_the_users_own_has_what_the_folder_has_not() {
    for (reach, how) in [("hosts", ""), ("control", " through ssh")] {
        let registry = format!("registry: {{address: 'reg.lab:5000', reach: {reach}}}, retention");
        let world = World::of(&INVENTORY.replace("retention", &registry));
        let pull = format!("pull image grafana/grafana:12.1.1 for grafana from reg.lab:5000{how}");
        assert_eq!(image_steps(&world, "grafana"), [pull]);
        let load = "load image x/influxdb:1 for influxdb";
        assert_eq!(image_steps(&world, "influxdb"), [load]);
    }
}

/// By digest where one is known; the name that it gets is the usual one.
#[test]
fn what_is_pulled_from_a_registry_is_named_below_it() {
    let registry = "registry: {address: 'reg.lab:5000', reach: control}, retention";
    let world = World::of(&INVENTORY.replace("retention", registry));
    let plan = world.plan().unwrap().whole();
    let steps = plan.stages.iter().flat_map(|stage| &stage.steps);
    let mut images = steps.filter_map(|step| match &step.action {
        Action::Image(image) => Some((&image.reference, image.registry.as_ref()?)),
        _ => None,
    });
    let (reference, from) = images.next().unwrap();
    assert_eq!(reference, "grafana/grafana:12.1.1");
    assert!(
        from.names[0].starts_with("grafana/grafana@sha256:"),
        "{from:?}"
    );
    assert_eq!(from.names[1..], ["grafana/grafana:12.1.1"]);
    assert!(from.forwarded);
}

/// A target file begins with a short interval and ends with what the next run compares with.
#[test]
fn target_files_end_at_the_usual_interval() {
    let world = World::fresh();
    let plan = world.plan().unwrap().whole();
    let steps = plan.stages.iter().flat_map(|stage| &stage.steps);
    let texts: Vec<&str> = steps
        .filter_map(|step| match &step.action {
            Action::Put(file) if file.path.as_str().ends_with("targets/node.json") => {
                Some(file.text.as_str())
            }
            _ => None,
        })
        .collect();
    let short =
        |text: &&str| text.contains("__scrape_interval__") && text.contains("__scrape_timeout__");
    assert_eq!(texts.iter().map(short).collect::<Vec<_>>(), [true, false]);
    assert!(!texts[1].contains("__"), "{}", texts[1]);
}
