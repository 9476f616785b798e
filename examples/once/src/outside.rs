//! What is slow, costs money or fails outside of this program, imitated: a bank, the post, a language model.

use std::{fmt, time::Duration};

use tokio::time::sleep;

use crate::database::Database;

/// A bank. What it has charged nobody here can undo.
#[derive(Clone)]
pub(crate) struct Bank {
    pub(crate) database: Database,
    pub(crate) takes: Duration,
}

impl Bank {
    /// Charges a payer, and returns the number of the charge.
    pub(crate) async fn charge(&self, payer: &str, order: &str, cents: u32) -> Result<i64, sqlx::Error> {
        sleep(self.takes / 2).await;
        let charged = self.database.charge(payer, order, cents).await;
        // The way back is as long: whoever goes away now has paid.
        sleep(self.takes / 2).await;
        charged
    }
}

/// The post, which knows nobody at `.invalid`.
#[derive(Clone)]
pub(crate) struct Post(pub(crate) Database);

impl Post {
    pub(crate) async fn deliver(&self, email: &str, code: &str) -> Result<(), Returned> {
        if email.ends_with(".invalid") {
            return Err(Returned("nobody lives there".into()));
        }
        self.0.deliver(email, code).await.map_err(|why| Returned(why.to_string()))
    }
}

/// Why a mail was not delivered.
#[derive(Debug)]
pub(crate) struct Returned(String);

impl fmt::Display for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A language model, which thinks for a while.
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) takes: Duration,
}

impl Model {
    pub(crate) async fn plan(&self, goal: &str) -> String {
        sleep(self.takes).await;
        format!("1. Begin. 2. Reach the goal: {goal}. 3. Rest.")
    }
}
