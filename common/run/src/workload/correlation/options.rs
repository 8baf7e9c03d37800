//! The command-line options that only correlations have, and the run that they ask for.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use serde_json::json;

use super::findings::Findings;
use crate::atomic_file::AtomicFile;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::picture::{self, Rectangle};
use crate::whole_number::within;
use crate::workload::{Plan, check_memory};
use workloads::border::numbers;
use workloads::correlation::{Correlation, Flat, HEADLINE_SIZE, Size, TEACHING_SIZE};
use workloads::origin::Origin;
use workloads::{Border, NoSuchSize, Problem};

/// The command-line options that only correlations have.
#[derive(Clone, Debug, Default, Args)]
pub struct Options {
    /// Image and template, for example 256x256,20x16; `seed` is 2048x2048,52x52
    #[arg(long, value_name = "WxH,wxh")]
    pub size: Option<Size>,
    /// Picture to search, a PNG or PGM file
    #[arg(long, value_name = "PICTURE", conflicts_with = "size")]
    pub input: Option<PathBuf>,
    /// The template as a part of the input: left, top, width, height
    #[arg(long, value_name = "x,y,w,h", requires = "input", conflicts_with = "template_file")]
    pub template: Option<Part>,
    /// The template as a picture of its own, a PNG or PGM file
    #[arg(long, value_name = "PICTURE", requires = "input")]
    pub template_file: Option<PathBuf>,
    /// Make every pixel of a generated picture the same gray
    #[arg(long, hide = true, requires = "size", value_enum)]
    pub flat: Option<Flat>,
    /// Where the template may lie
    #[arg(long, value_enum, default_value_t)]
    pub border: Border,
    /// How many of the best matches to tell
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = within(1..=u16::MAX))]
    pub matches: u16,
    /// Where to write the coefficients as a picture with the matches framed, a PNG file
    #[arg(long, value_name = "PNG")]
    pub output: Option<PathBuf>,
}

/// A part of a picture, as the command line has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part(pub Rectangle);

impl FromStr for Part {
    type Err = NoSuchSize;

    fn from_str(text: &str) -> Result<Self, NoSuchSize> {
        let [x, y, width, height] = numbers(text, "expected left, top, width and height as in 40,30,20,16")
            .map_err(|reason| NoSuchSize { asked: format!("the template {text:?}"), reason })?;
        Ok(Part(Rectangle { x, y, width, height }))
    }
}

/// The run that the command line asks for.
pub(super) fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Correlation>> {
    // Before the long run, so that nobody waits for a result that cannot be written.
    let file = options.output.as_deref().map(AtomicFile::create).transpose()?;
    let correlation = match &options.input {
        Some(input) => {
            let image = picture::read(input)?;
            let template = match (&options.template, &options.template_file) {
                (Some(Part(part)), _) => image.crop(*part)?,
                (None, Some(path)) => picture::read(path)?,
                (None, None) => {
                    return Err(Error::Mismatched(format!(
                        "no template to search for in {}: add --template x,y,w,h to take one from it, or --template-file",
                        input.display()
                    )));
                }
            };
            let origin = Origin::Files {
                words: format!("{} in {}", template.name, image.name),
                names: vec![("input", json!(image.name)), ("template", json!(template.name))],
            };
            Correlation::new(image, template, options.border)?.with_origin(origin)
        }
        None => {
            let size = options.size.unwrap_or(if gpu.is_simulated() { TEACHING_SIZE } else { HEADLINE_SIZE });
            check_memory(size.footprint(), gpu)?;
            Correlation::random(size, options.border, seed).flattened(options.flat)
        }
    };
    check_memory(correlation.footprint(), gpu)?;
    let findings = Findings { most: usize::from(options.matches), file };
    Ok(Plan { parts: vec![correlation], delivery: Some(Box::new(findings)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_those_that_cannot_be_are_refused() {
        assert_eq!("seed".parse::<Size>().unwrap(), HEADLINE_SIZE);
        assert_eq!("20X10,3x4".parse::<Size>().unwrap(), Size { image: (20, 10), template: (3, 4) });
        for text in [
            "",
            "20x10",
            "20x10,3",
            "20x10,0x1",
            "20x10,21x1",
            "20x10,1x11",
            "-1x1,1x1",
            "99999999999x1,1x1",
            "300x300,300x300",
            "262145x1,1x1",
            "1x262145,1x1",
            "32768x16385,1x1",
        ] {
            let error = text.parse::<Size>().expect_err(text).to_string();
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }

    #[test]
    fn a_part_is_four_numbers() {
        assert_eq!("1,2,3,4".parse::<Part>().unwrap(), Part(Rectangle { x: 1, y: 2, width: 3, height: 4 }));
        for text in ["", "1,2,3", "1,2,3,4,5", "1,2,3,x", "1,-2,3,4"] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
    }
}
