//! Which address a sign-in counts as.

use crate::program::{Program, command};

fn claim(n: usize) -> String {
    format!("203.0.113.{n}")
}

#[tokio::test]
async fn rotated_forwarded_addresses_and_keys_gain_no_sign_ins() {
    let program = Program::start();
    let mut statuses = Vec::new();
    for n in 0..3 {
        statuses.push(program.sign_in("guess", ("x-forwarded-for", &claim(n))).await);
        statuses.push(program.sign_in("guess", ("forwarded", &format!("for={}", claim(n)))).await);
        statuses
            .push(program.sign_in("guess", ("x-api-key", ["demo-free", "demo-basic", "demo-pro"][n])).await);
    }
    assert_eq!(statuses, [403, 403, 403, 403, 403, 429, 429, 429, 429]);
    assert_eq!(
        program.sign_in("lovelace", ("x-real-ip", "203.0.113.9")).await,
        429,
        "the right one is not told"
    );
}

#[tokio::test]
async fn clients_behind_a_trusted_proxy_are_told_apart_by_what_it_added() {
    let program = Program::trusting("10.0.0.0/8,127.0.0.1");
    for n in 0..5 {
        let through = format!("{}, 203.0.113.9, 10.0.0.7", claim(n));
        assert_eq!(program.sign_in("guess", ("x-forwarded-for", &through)).await, 403);
    }
    assert_eq!(program.sign_in("guess", ("x-forwarded-for", "203.0.113.9")).await, 429);
    assert_eq!(program.sign_in("lovelace", ("x-forwarded-for", "203.0.113.8")).await, 200);
}

#[tokio::test]
async fn an_empty_list_of_proxies_trusts_nobody() {
    let program = Program::trusting("");
    for (n, status) in [403, 403, 403, 403, 403, 429].into_iter().enumerate() {
        assert_eq!(program.sign_in("guess", ("x-forwarded-for", &claim(n))).await, status);
    }
}

#[test]
fn a_proxy_that_is_no_network_is_refused_by_the_name_of_its_setting() {
    let output = command().arg("load").env("TRUSTED_PROXIES", "10.0.0.0/8,proxy").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("TRUSTED_PROXIES") && said.contains("`proxy`"),
        "{said}"
    );
}
