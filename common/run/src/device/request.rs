//! The device that `--device` asks for.

use std::fmt;
use std::str::FromStr;

use driver::client;
use thiserror::Error;

/// The device that a run asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Request {
    /// A GPU if one works, otherwise the simulator.
    #[default]
    Auto,
    /// A GPU or nothing.
    Gpu,
    /// The simulator with the profile of that name; `None` takes the default profile.
    Sim(Option<String>),
}

/// A text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no device is named `{asked}`: {reason}")]
pub struct UnknownDevice {
    /// The text.
    asked: String,
    /// The texts that name devices.
    reason: String,
}

impl FromStr for Request {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Self, UnknownDevice> {
        let unknown = |reason: String| UnknownDevice { asked: text.to_owned(), reason };
        match (text, text.split_once(':')) {
            ("auto", _) => Ok(Request::Auto),
            ("gpu", _) => Ok(Request::Gpu),
            ("sim", _) => Ok(Request::Sim(None)),
            (_, Some(("sim", profile))) => {
                client::check_profile(profile).map_err(|error| unknown(error.to_string()))?;
                Ok(Request::Sim(Some(profile.to_owned())))
            }
            _ => Err(unknown("choose auto, gpu, sim, or sim:PROFILE".to_owned())),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Auto => f.write_str("auto"),
            Request::Gpu => f.write_str("gpu"),
            Request::Sim(None) => f.write_str("sim"),
            Request::Sim(Some(profile)) => write!(f, "sim:{profile}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_as_it_is_read() {
        for text in ["auto", "gpu", "sim", "sim:h200"] {
            assert_eq!(text.parse::<Request>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_unknown_device_is_answered_with_the_known_ones() {
        for (text, hint) in [("cuda", "sim:PROFILE"), ("sim:voodoo2", "h200"), ("sim:", "h200"), ("", "auto"), ("GPU", "gpu")] {
            let message = text.parse::<Request>().unwrap_err().to_string();
            assert!(message.contains(hint) && message.contains(&format!("`{text}`")), "{message}");
        }
    }
}
