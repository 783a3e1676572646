//! Roles and locks, in builds with the engines of servers.

use std::fmt::Write as _;

use anyhow::Result;
use sqlgauge_core::engines;

use super::{Action, Check, Setup};
use crate::Verdict;
use crate::output::print;

impl Action {
    pub(crate) fn run(self) -> Result<Verdict> {
        match self {
            Self::Setup(setup) => setup.run(),
            Self::Check(check) => check.run(),
        }
    }
}

impl Setup {
    fn run(self) -> Result<Verdict> {
        let role = engines::Setup { role: self.role, database: self.database, schemas: self.schemas };
        print(&engines::setup(&self.engine, &role)?)?;
        Ok(Verdict::Done)
    }
}

impl Check {
    fn run(self) -> Result<Verdict> {
        let (version, locks) = crate::engine::run(true, |_| engines::check(&self.address))?;
        let mut text = format!("{version}\n");
        for lock in &locks {
            let state = match lock.holds {
                Some(true) => "holds",
                Some(false) => "OPEN ",
                None => "none ",
            };
            writeln!(text, "{state}  {:<36} {}", lock.name, lock.message.lines().next().unwrap_or_default())?;
        }
        print(&text)?;
        let all_hold = locks.iter().all(|lock| lock.holds != Some(false));
        Ok(if all_hold { Verdict::Done } else { Verdict::GateFailed })
    }
}
