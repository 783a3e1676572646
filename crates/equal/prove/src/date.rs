//! Dates: functions that SQLite is asked for, and the present time as a constant that nobody knows.
//!
//! # Contract
//! `'now'` and `CURRENT_TIMESTAMP` are one text, to the second; what looks closer (`julianday`, `%f`) is a constant of its
//! own for each way in which it is asked for.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Args, Expr, Literal};

use super::exec::{Env, Run};
use super::ir::{FunctionPart, Terms};
use super::oracle::{Call, Function as Declared};
use super::value::SymbolicValue;
use super::world::Stop;

impl Run<'_, '_> {
    /// A function of dates and times.
    pub(super) fn date_function(
        &mut self,
        function: &Function,
        args: &Args,
        env: &Env,
    ) -> Result<SymbolicValue, Stop> {
        use Function as F;
        let replaced = match function {
            F::CurrentTimestamp => return Ok(self.now()),
            F::CurrentDate => Some(F::Date),
            F::CurrentTime => Some(F::Time),
            F::Date | F::Time | F::DateTime if args.as_slice().is_empty() => Some(function.clone()),
            _ => None,
        };
        if let Some(function) = replaced {
            let now = self.now();
            return self.scalar_function(&function, &Args::List(vec![Expr::Literal(Literal::Null)]), &[now]);
        }
        let list = args.as_slice();
        let place = usize::from(*function == F::Strftime);
        let is_whole = match function {
            F::Strftime => is_of_seconds(list.first()),
            F::Date | F::Time | F::DateTime | F::UnixEpoch => true,
            _ => false,
        };
        let mut values = Vec::new();
        let mut deterministic = list.to_vec();
        for (at, arg) in list.iter().enumerate() {
            let arg = if at == place && keeps_days(function, list) { day_of(arg) } else { arg };
            if at == place && is_whole && is_now(arg) {
                values.push(self.now());
                deterministic[at] = Expr::Literal(Literal::Null);
            } else {
                values.push(self.value(arg, env)?);
            }
        }
        let args = if list.is_empty() { args.clone() } else { Args::List(deterministic) };
        self.scalar_function(function, &args, &values)
    }

    fn now(&mut self) -> SymbolicValue {
        let function = Declared { call: Call::Open("now".into()), params: Vec::new() };
        let function = self.world.oracle.function(function);
        let terms = &mut self.world.terms;
        let text = terms.apply(function, FunctionPart::Text, &[]);
        terms.text_value(text, Terms::FALSE)
    }
}

fn is_now(arg: &Expr) -> bool {
    matches!(arg, Expr::Literal(Literal::Text(text)) if text.eq_ignore_ascii_case("now"))
}

/// Whether a format shows nothing below a second.
fn is_of_seconds(format: Option<&Expr>) -> bool {
    matches!(format, Some(Expr::Literal(Literal::Text(format))) if !format.contains("%f") && !format.contains("%J"))
}

/// Whether the function shows the day alone, so that it makes no difference if its argument does.
fn keeps_days(function: &Function, list: &[Expr]) -> bool {
    match (function, list) {
        (Function::Date, [_]) => true,
        (Function::Strftime, [Expr::Literal(Literal::Text(format)), _]) => {
            let mut letters = format.split('%').skip(1);
            letters.all(|after| after.starts_with(['Y', 'm', 'd', 'j', 'w', 'F']))
        }
        _ => false,
    }
}

/// What a date or a time to the second is made of, where only its day is asked for.
fn day_of(arg: &Expr) -> &Expr {
    match arg {
        Expr::Function { function: Function::Date | Function::DateTime, args: Args::List(list) } => {
            match list.as_slice() {
                [inner] => day_of(inner),
                _ => arg,
            }
        }
        other => other,
    }
}
