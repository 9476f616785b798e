use super::*;

fn policy(mode: Mode, lowest: &str, windows: &[Window]) -> Result<Policy, Error> {
    let tiers = Tiers::new().tier("free", windows.iter().copied()).unwrap().unlimited("internal").unwrap();
    Policy::new(&Name::new("api").unwrap(), mode, lowest, tiers)
}

fn window(text: &str) -> Window {
    text.parse().unwrap()
}

fn refusal(mode: Mode, window: Window) -> Option<String> {
    policy(mode, "free", &[window]).err().map(|error| error.to_string())
}

#[test]
fn a_policy_has_its_lowest_tier() {
    let error = policy(Mode::Strict, "bronze", &[window("1/s")]).unwrap_err().to_string();
    assert!(error.contains("api") && error.contains("bronze") && error.contains("lowest()"), "{error}");
    assert!(policy(Mode::Strict, "internal", &[window("1/s")]).is_ok());
}

#[test]
fn a_mode_refuses_what_it_cannot_count_by_the_name_of_the_window() {
    let error = refusal(Mode::Log, window("10001/hour")).unwrap();
    assert!(error.contains("10001/hour") && error.contains("free") && error.contains("strict"), "{error}");
    assert_eq!(refusal(Mode::Log, window("10000/hour")), None);
    for mode in [Mode::Sliding, Mode::Gcra] {
        assert_eq!(refusal(mode, window("1099511627776/8192ms")), None);
        assert!(refusal(mode, window("1099511627776/8193ms")).is_some());
    }
    assert_eq!(refusal(Mode::Strict, window("1099511627776/366d")), None);
}

#[test]
fn a_burst_is_from_one_to_the_limit_and_of_one_mode_alone() {
    assert_eq!(refusal(Mode::Gcra, window("10/s").burst(1)), None);
    assert_eq!(refusal(Mode::Gcra, window("10/s").burst(10)), None);
    assert!(refusal(Mode::Gcra, window("10/s").burst(0)).is_some());
    assert!(refusal(Mode::Gcra, window("10/s").burst(11)).is_some());
    assert!(refusal(Mode::Strict, window("10/s").burst(5)).is_some());
}

#[test]
fn two_tiers_in_one_have_every_window_and_the_smaller_limit() {
    let name = || Name::new("a").unwrap();
    let tier = |windows: &[&str]| {
        Tier::new(name(), name(), windows.iter().map(|text| window(text)).collect::<Vec<_>>(), 0)
    };
    let both = tier(&["10/minute", "100/hour"]).and(&tier(&["5/minute", "1000/day"]));
    assert_eq!(both.windows, tier(&["5/minute", "100/hour", "1000/day"]).windows);
}

#[test]
fn a_log_is_bounded_by_the_longest_window_of_the_policy() {
    let tiers = |day: &str| {
        let tiers = Tiers::new().tier("free", ["10/second"]).unwrap();
        Policy::new(&Name::new("api").unwrap(), Mode::Log, "free", tiers.tier("pro", [day]).unwrap())
    };
    assert!(tiers("100/1000s").is_ok());
    let error = tiers("100/1001s").unwrap_err().to_string();
    assert!(error.contains("10/second") && error.contains("longest window"), "{error}");
}

#[test]
fn a_policy_has_no_more_windows_than_a_value_can_hold() {
    let policy = |tiers: u64| {
        let tiers = (0..tiers).try_fold(Tiers::new().unlimited("free").unwrap(), |all, tier| {
            let lengths = (1..=8).map(|n| Window::new(1, Duration::from_millis(8 * tier + n)).unwrap());
            all.tier(&format!("t{tier}"), lengths)
        });
        Policy::new(&Name::new("api").unwrap(), Mode::Strict, "free", tiers.unwrap())
    };
    assert!(policy(4).is_ok());
    assert!(policy(5).unwrap_err().to_string().contains("40 lengths"));
}
