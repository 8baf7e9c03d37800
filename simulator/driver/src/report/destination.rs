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
    /// To a file.
    File(Form, PathBuf),
}

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A [`Report`] in JSON.
    Json,
    /// JUnit XML.
    Junit,
    /// SARIF 2.1.0.
    Sarif,
}

impl Destination {
    /// Reads a destination: `text`, `github`, `json:FILE`, `junit:FILE`, `sarif:FILE`, or just a `FILE` that ends with `.json`. In `FILE`,
    /// `%p` stands for the process ID. `variable` is where the text is from, for messages. Fails with [`Error::Variable`] or
    /// [`Error::ReportFile`].
    pub fn parse(text: &str, variable: &'static str) -> Result<Self, Error> {
        let to_file = |form, path| file(path, variable).map(|path| Self::File(form, path));
        match (text, text.split_once(':')) {
            ("text", _) => Ok(Self::Text),
            ("github", _) => Ok(Self::Github),
            (_, Some(("json", path))) => to_file(Form::Json, path),
            (_, Some(("junit", path))) => to_file(Form::Junit, path),
            (_, Some(("sarif", path))) => to_file(Form::Sarif, path),
            (path, _) if path.ends_with(".json") => to_file(Form::Json, path),
            _ => Err(Error::Variable {
                variable,
                expected: "text, github, json:FILE, junit:FILE or sarif:FILE, or several of them separated by commas",
                got: text.to_owned(),
            }),
        }
    }

    /// Writes a report. Fails with [`Error::File`].
    pub fn write(&self, report: &Report) -> Result<(), Error> {
        match self {
            Self::Text => print(format_args!("{report}")),
            Self::Github => print(format_args!("{}", report.github())),
            Self::File(form, path) => {
                let text = match form {
                    Form::Json => serde_json::to_string_pretty(report).map(|text| text + "\n"),
                    Form::Junit => Ok(report.junit()),
                    Form::Sarif => serde_json::to_string_pretty(&report.sarif()).map(|text| text + "\n"),
                };
                let written = text.map_err(io::Error::from).and_then(|text| replace(path, &text));
                written.map_err(Error::at(path))?;
            }
        }
        Ok(())
    }
}

/// Makes a path absolute now, because the program may change its working directory later.
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
