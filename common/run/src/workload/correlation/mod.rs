//! Normalized cross-correlation on a device, and its command line.

mod findings;

use std::path::PathBuf;

use clap::Args;
use cudarc::driver::CudaSlice;
use serde_json::json;

use super::array::arrays;
use super::{Plan, Workload, size_for};
use crate::device::guard::Guarded;
use crate::files::atomic_file::AtomicFile;
use crate::files::picture::{self, Rectangle};
use crate::whole_number::within;
use crate::{Error, Gpu, Result};
use workloads::border::numbers;
use workloads::correlation::Flat;
use workloads::origin::Origin;
use workloads::{Border, NoSuchSize, Problem};

use findings::report;

pub use workloads::correlation::{
    Correlation, HEADLINE_SIZE, LONGEST_SIDE, MOST_IMAGE_PIXELS, MOST_TEMPLATE_PIXELS, Match, NO_SUM, Size, TEACHING_SIZE,
    best_matches,
};

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
    #[arg(long, value_name = "x,y,w,h", requires = "input", conflicts_with = "template_file", value_parser = part)]
    pub template: Option<Rectangle>,
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

/// Parses the part of a picture that is the template.
fn part(text: &str) -> Result<Rectangle, NoSuchSize> {
    let [x, y, width, height] = numbers(text, "expected left, top, width and height as in 40,30,20,16")
        .map_err(|reason| NoSuchSize::new(format!("the template {text:?}"), reason))?;
    Ok(Rectangle { x, y, width, height })
}

/// The arrays of a correlation on a device.
pub struct Buffers {
    /// The image's pixels, row by row without gaps.
    pub image: CudaSlice<u8>,
    /// The template's pixels, row by row without gaps.
    pub template: CudaSlice<u8>,
    /// Memory for the coefficients, row by row.
    pub output: Guarded,
    /// Memory for the sums, for stages that store them: all ΣI, then all ΣI², then all ΣIT.
    pub sums: CudaSlice<u32>,
}

impl Workload for Correlation {
    type Options = Options;
    type Buffers = Buffers;
    arrays!(image, template);

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        // Before the long run, so that the user does not wait for a result that cannot be written.
        let file = options.output.as_deref().map(AtomicFile::create).transpose()?;
        let correlation = match &options.input {
            Some(input) => {
                let image = picture::read(input)?;
                let template = match (&options.template, &options.template_file) {
                    (Some(part), _) => image.crop(*part)?,
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
                Self::new(image, template, options.border)?.with_origin(origin)
            }
            None => {
                let size = size_for(gpu, options.size, [TEACHING_SIZE, HEADLINE_SIZE], |size| size.footprint())?;
                Self::random(size, options.border, seed).flattened(options.flat)
            }
        };
        let most = usize::from(options.matches);
        Plan::of(correlation, Some(Box::new(move |parts, outputs| report(&parts[0], &outputs[0], most, file))), gpu)
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            image: gpu.stream.clone_htod(&self.image().pixels)?,
            template: gpu.stream.clone_htod(&self.template().pixels)?,
            output: Guarded::new(gpu, self.output_len())?,
            sums: gpu.stream.clone_htod(&vec![NO_SUM; 3 * self.output_len()])?,
        })
    }
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
        assert_eq!(part("1,2,3,4").unwrap(), Rectangle { x: 1, y: 2, width: 3, height: 4 });
        for text in ["", "1,2,3", "1,2,3,4,5", "1,2,3,x", "1,-2,3,4"] {
            assert!(part(text).is_err(), "{text}");
        }
    }
}
