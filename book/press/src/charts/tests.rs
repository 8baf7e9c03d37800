//! Charts of the real records, and of records with times and counts made up.

use common::ceilings::Ceilings;
use common::record::Record;
use simt::Counters;

use super::overview::{Dot, course};
use super::*;
use crate::drawing::svg;
use crate::drawing::words::Area;

fn chart(text: &str) -> Result<String> {
    let mut arguments = Arguments::parse(text)?;
    let chart = draw(&Archive::read()?, &mut arguments)?;
    arguments.finish()?;
    Ok(chart)
}
