//! Where a report goes, and in which form.

use std::io;
use std::path::{Path, PathBuf};

use super::Report;
use crate::error::Error;
use crate::files::replace;
use crate::messages::print;

/// Where a report goes, and in which form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To standard error, for people.
    Text,
    /// To standard error, as annotations for GitHub Actions.
    Github,
    /// To a file: a [`Report`] in JSON.
    Json(PathBuf),
    /// To a file: JUnit XML.
    Junit(PathBuf),
    /// To a file: SARIF 2.1.0.
    Sarif(PathBuf),
}

impl Destination {
    /// Reads a destination: `text`, `github`, `json:FILE`, `junit:FILE`, `sarif:FILE`, or just a `FILE` that ends with `.json`. In `FILE`,
    /// `%p` stands for the process ID. `variable` is where the text is from, for messages. Fails with [`Error::Variable`] or
    /// [`Error::ReportFile`].
    pub fn parse(text: &str, variable: &'static str) -> Result<Self, Error> {
        match (text, text.split_once(':')) {
            ("text", _) => Ok(Self::Text),
            ("github", _) => Ok(Self::Github),
            (_, Some(("json", path))) => file(path, variable).map(Self::Json),
            (_, Some(("junit", path))) => file(path, variable).map(Self::Junit),
            (_, Some(("sarif", path))) => file(path, variable).map(Self::Sarif),
            (path, _) if path.ends_with(".json") => file(path, variable).map(Self::Json),
            _ => Err(Error::Variable {
                variable,
                expected: "text, github, json:FILE, junit:FILE or sarif:FILE, or several of them separated by commas",
                got: text.to_owned(),
            }),
        }
    }

    /// Writes a report. Fails with [`Error::File`].
    pub fn write(&self, report: &Report) -> Result<(), Error> {
        let (path, text) = match self {
            Self::Text => {
                print(format_args!("{report}"));
                return Ok(());
            }
            Self::Github => {
                print(format_args!("{}", report.github()));
                return Ok(());
            }
            Self::Json(path) => (path, serde_json::to_string_pretty(report).map(|text| text + "\n")),
            Self::Junit(path) => (path, Ok(report.junit())),
            Self::Sarif(path) => (path, serde_json::to_string_pretty(&report.sarif()).map(|text| text + "\n")),
        };
        text.map_err(io::Error::from).and_then(|text| replace(path, &text)).map_err(Error::at(path))
    }
}

/// Makes a path absolute now. The program may change its working directory later.
fn file(path: &str, variable: &'static str) -> Result<PathBuf, Error> {
    let path = PathBuf::from(path.replace("%p", &std::process::id().to_string()));
    let refuse = |reason: String| Error::ReportFile { variable, path: path.clone(), reason };
    let absolute = std::path::absolute(&path).map_err(|error| refuse(error.to_string()))?;
    if absolute.file_name().is_none() || absolute.is_dir() {
        return Err(refuse("it is not the name of a file".to_owned()));
    }
    if !absolute.parent().is_some_and(Path::is_dir) {
        return Err(refuse("its folder does not exist".to_owned()));
    }
    Ok(absolute)
}
