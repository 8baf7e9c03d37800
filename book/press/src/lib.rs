//! Renders what the book and the README show of saved runs and of the simulator, and makes the records of those runs.

pub mod chapters;
pub mod charts;
pub mod counts;
pub mod differences;
pub mod exercise_pages;
pub mod footprints;
pub mod front_pages;
pub mod generated;
pub mod instruction_tables;
pub mod pictures;
pub mod window_tables;

#[cfg(test)]
mod book;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod device;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod includes;
#[cfg(test)]
mod links;
#[cfg(test)]
mod outline;
#[cfg(test)]
mod pages;
