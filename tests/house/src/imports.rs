//! Imports run one way: between the crates of the workspace, and between the files of each crate.
//!
//! A file depends on another one if it names an item of it, by `use` or in an expression. A re-export (`pub use child::Item`) is no
//! dependency: it says what is in a folder, and whoever names the item through it depends on the file that defines it. Unit tests may use
//! what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use support::root;

use crate::repository::{manifest, members, read};

/// The packages from the bottom up. Each may depend only on packages of lower levels; `ch0` stands for every chapter.
const LEVELS: [&[&str]; 12] = [
    &["features", "fuzz", "lower", "simcuda-alu", "simcuda-cudart", "simcuda-nvrtc", "streams"],
    &["simcuda-ptx"],
    &["simcuda-simt"],
    &["lower-web", "simcuda-driver", "simt-web"],
    &["simcuda-library", "simt-tests"],
    &["simcuda"],
    &["kernels", "oracles"],
    &["compilers", "workloads"],
    &["baselines", "checker", "run"],
    &["checker-web", "conformance", "inspect", "workshop"],
    &["cli"],
    &["ch0"],
];

/// The packages that nothing but tests depends on.
const TOP: [&str; 5] = ["benches", "house", "press", "properties", "support"];

fn level(package: &str) -> usize {
    let is_it = |name: &&str| *name == package || (*name == "ch0" && package.starts_with("ch0"));
    let found = LEVELS.iter().position(|level| level.iter().any(is_it));
    let top = || {
        TOP.contains(&package).then_some(if package == "press" || package == "support" { LEVELS.len() } else { LEVELS.len() + 1 })
    };
    found.or_else(top).unwrap_or_else(|| panic!("{package} has no level in {}", file!()))
}

/// Returns the workspace's packages by name, with their folders and manifests.
fn packages() -> BTreeMap<String, (String, toml::Table)> {
    let package = |folder: String| {
        let manifest = manifest(&folder);
        (manifest["package"]["name"].as_str().unwrap().to_owned(), (folder, manifest))
    };
    members().into_iter().map(package).collect()
}

/// Returns the packages that a manifest depends on, on any system. Only tables whose names end with one of `kinds` count.
fn dependencies_of(manifest: &toml::Table, kinds: &[&str]) -> BTreeSet<String> {
    // A dependency may have a shorter name than its package.
    let shared = &self::manifest("")["workspace"]["dependencies"];
    let package_of = |name: &String| shared.get(name).and_then(|entry| entry.get("package")?.as_str()).unwrap_or(name).to_owned();
    let systems = manifest.get("target").and_then(toml::Value::as_table).into_iter().flat_map(|table| table.values());
    let tables = systems.filter_map(toml::Value::as_table).chain([manifest]);
    let named = tables.flat_map(|table| kinds.iter().filter_map(|kind| table.get(*kind)?.as_table()));
    named.flat_map(|table| table.keys().map(package_of)).collect()
}

#[test]
fn crates_depend_on_crates_of_lower_levels() {
    let packages = packages();
    for (package, (_, manifest)) in &packages {
        let dependencies = dependencies_of(manifest, &["dependencies", "build-dependencies"]);
        for dependency in dependencies.iter().filter(|name| packages.contains_key(*name)) {
            // A chapter may start where the one before it ended.
            let is_earlier_chapter = level(package) == level("ch0") && level(dependency) == level("ch0") && dependency < package;
            assert!(level(dependency) < level(package) || is_earlier_chapter, "{package} depends on {dependency}");
        }
    }
}

#[test]
fn every_package_that_a_list_names_is_in_the_workspace() {
    let packages = packages();
    let has_level = LEVELS.iter().copied().flatten().chain(&TOP).filter(|name| **name != "ch0");
    // The press gives these to cargo when it builds the modules for web pages, which no other test does.
    let web = read(&root().join("book/press/src/web.rs"));
    let built = ["modules(&out, \"", "modules(out, \"", "build(\""].map(|before| {
        let name = web.split_once(before).and_then(|(_, rest)| rest.split('"').next());
        name.unwrap_or_else(|| panic!("book/press/src/web.rs has no `{before}` any more"))
    });
    let gone: Vec<_> = has_level.copied().chain(built).filter(|name| !packages.contains_key(*name)).collect();
    assert!(gone.is_empty(), "there are no such packages: {gone:?}");
}

#[test]
fn the_simulator_depends_on_nothing_outside_its_folder() {
    let packages = packages();
    for (package, (folder, manifest)) in packages.iter().filter(|(_, (folder, _))| folder.starts_with("simulator/")) {
        for dependency in dependencies_of(manifest, &["dependencies", "build-dependencies", "dev-dependencies"]) {
            let outside = packages.get(&dependency).filter(|(folder, _)| !folder.starts_with("simulator/"));
            assert_eq!(outside.map(|(folder, _)| folder), None, "{folder}: {package} depends on {dependency}");
        }
    }
}

#[test]
fn no_package_is_inside_another_one() {
    let folders = members();
    for folder in &folders {
        // Tests are a part of what they test.
        let outer = folders.iter().find(|outer| folder.starts_with(&format!("{outer}/")) && *folder != format!("{outer}/tests"));
        assert_eq!(outer, None, "{folder} is inside of another package");
    }
}

#[test]
fn files_of_a_crate_import_one_way() {
    for folder in members() {
        for start in starts(&root().join(&folder)) {
            let cycles = cycles(&start);
            assert!(cycles.is_empty(), "these files depend on each other in a circle:\n{}", cycles.join("\n"));
        }
    }
}

/// Returns the files at which a package's libraries and binaries start.
fn starts(package: &Path) -> Vec<PathBuf> {
    let binaries = std::fs::read_dir(package.join("src/bin")).into_iter().flatten().map(|entry| entry.unwrap().path());
    let binaries = binaries.map(|path| if path.is_dir() { path.join("main.rs") } else { path });
    let libraries = ["src/lib.rs", "src/main.rs"].map(|name| package.join(name));
    // A package that only has tests or benchmarks has no `src`.
    libraries.into_iter().filter(|path| path.is_file()).chain(binaries).collect()
}

/// Lists the circles of a crate's files, one line each.
fn cycles(start: &Path) -> Vec<String> {
    let modules = modules(start);
    let uses: BTreeMap<&Module, BTreeSet<Module>> = modules.keys().map(|module| (module, dependencies(module, &modules))).collect();
    let mut reached: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for module in modules.keys() {
        let mut found = BTreeSet::new();
        let mut open: Vec<&Module> = uses[module].iter().collect();
        while let Some(next) = open.pop() {
            if found.insert(next) {
                open.extend(&uses[next]);
            }
        }
        reached.insert(module, found);
    }
    let circle = |module: &Module| -> BTreeSet<&Module> {
        reached[module].iter().copied().filter(|other| reached[other].contains(module)).collect()
    };
    let circles: BTreeSet<BTreeSet<&Module>> = modules.keys().map(circle).filter(|circle| !circle.is_empty()).collect();
    let line = |circle: BTreeSet<&Module>| {
        let name = |module: &Module| if module.is_empty() { "crate".to_owned() } else { module.join("::") };
        let edges = circle.iter().map(|module| {
            let to: Vec<String> = uses[*module].iter().filter(|to| circle.contains(to)).map(name).collect();
            format!("\n    {} uses {}", name(module), to.join(", "))
        });
        format!("{}:{}", start.display(), edges.collect::<String>())
    };
    circles.into_iter().map(line).collect()
}

/// A module's path from its crate's root, which itself is `[]`.
type Module = Vec<String>;

/// The contents of a module's file.
struct Source {
    /// The code without comments, strings, and unit tests.
    code: String,
    /// Items that the module re-exports, with their full paths.
    reexports: BTreeMap<String, Vec<String>>,
}

/// Returns the modules of a crate that have files of their own. Modules that only tests have are left out.
fn modules(start: &Path) -> BTreeMap<Module, Source> {
    let mut modules = BTreeMap::new();
    let mut open: Vec<(Module, PathBuf)> = vec![(Vec::new(), start.to_owned())];
    while let Some((module, file)) = open.pop() {
        let code = code(&read(&file));
        let folder = if file == start || file.ends_with("mod.rs") {
            file.parent().expect("a file is in a folder").to_owned()
        } else {
            file.with_extension("")
        };
        for child in children(&code) {
            let candidates = [folder.join(format!("{child}.rs")), folder.join(&child).join("mod.rs")];
            if let Some(file) = candidates.into_iter().find(|candidate| candidate.is_file()) {
                open.push(([&module[..], &[child]].concat(), file));
            }
        }
        modules.insert(module, Source { code, reexports: BTreeMap::new() });
    }
    let known: BTreeSet<Module> = modules.keys().cloned().collect();
    for (module, source) in &mut modules {
        let declared = children(&source.code);
        for statement in source.code.split_inclusive(';').filter_map(|statement| statement.rsplit("pub").next()) {
            let is_visibility =
                |text: &str| text.is_empty() || (text.starts_with('(') && text.ends_with(')') && !text.contains('{'));
            let Some((_, tree)) = statement.split_once("use ").filter(|(before, _)| is_visibility(before.trim())) else {
                continue;
            };
            for path in paths(tree).into_iter().filter_map(|path| absolute(path, module, &declared)) {
                if let Some(name) = path.last().filter(|name| *name != "*" && !known.contains(&path)) {
                    source.reexports.insert(name.clone(), path.clone());
                }
            }
        }
    }
    modules
}

/// Returns the modules whose items a module names.
fn dependencies(module: &Module, modules: &BTreeMap<Module, Source>) -> BTreeSet<Module> {
    let source = &modules[module];
    let declared = children(&source.code);
    let mut found = BTreeSet::new();
    let starts = ["crate", "super", "self"].into_iter().chain(declared.iter().map(String::as_str));
    for start in starts {
        for (at, _) in source.code.match_indices(&format!("{start}::")) {
            let before = &source.code[..at];
            if before.ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == ':') {
                continue;
            }
            let statement = before.rsplit([';', '}', '{']).next().unwrap_or_default();
            let is_reexport = statement.contains("pub") && statement.trim_end().ends_with("use");
            for path in paths(&source.code[at..]).into_iter().filter_map(|path| absolute(path, module, &declared)) {
                if !is_reexport || path.last().is_some_and(|name| name == "*") {
                    found.insert(definition(&path, modules));
                }
            }
        }
    }
    found.remove(module);
    found
}

/// Returns the module that defines what a full path names.
fn definition(path: &[String], modules: &BTreeMap<Module, Source>) -> Module {
    let mut module = Vec::new();
    let mut path = path.to_vec();
    let mut followed = BTreeSet::new();
    let mut at = 0;
    while let Some(name) = path.get(at) {
        let child = [&module[..], std::slice::from_ref(name)].concat();
        if modules.contains_key(&child) {
            (module, at) = (child, at + 1);
        } else if let Some(target) = modules.get(&module).and_then(|source| source.reexports.get(name))
            && followed.insert(target)
        {
            path = [target, &path[at + 1..]].concat();
            (module, at) = (Vec::new(), 0);
        } else {
            break;
        }
    }
    module
}

/// Returns a written path as one from the crate's root; `None` if it leads into another crate.
fn absolute(path: Vec<String>, module: &Module, declared: &BTreeSet<String>) -> Option<Vec<String>> {
    let mut base = if path.first().is_some_and(|first| first == "crate") { Vec::new() } else { module.clone() };
    let mut names = path.into_iter().peekable();
    let is_local =
        names.peek().is_some_and(|first| ["crate", "super", "self"].contains(&first.as_str()) || declared.contains(first));
    if !is_local {
        return None;
    }
    while let Some(step) = names.next_if(|name| ["crate", "super", "self"].contains(&name.as_str())) {
        if step == "super" {
            base.pop();
        }
    }
    base.extend(names);
    Some(base)
}

/// Returns the paths at the start of a text: one, or those of a tree such as `a::{b, c::{D, E as F}}`.
fn paths(text: &str) -> Vec<Vec<String>> {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        let mut depth = 0;
        let mut branches = vec![String::new()];
        for letter in group.chars() {
            match letter {
                '}' if depth == 0 => break,
                ',' if depth == 0 => branches.push(String::new()),
                _ => {
                    depth += i32::from(letter == '{') - i32::from(letter == '}');
                    branches.last_mut().expect("there is one from the start").push(letter);
                }
            }
        }
        return branches.iter().filter(|branch| !branch.trim().is_empty()).flat_map(|branch| paths(branch)).collect();
    }
    let length = text.find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '*')).unwrap_or(text.len());
    let (name, rest) = text.split_at(length);
    match rest.strip_prefix("::") {
        Some(rest) if !rest.starts_with('<') => {
            paths(rest).into_iter().map(|path| [vec![name.to_owned()], path].concat()).collect()
        }
        _ => vec![vec![name.to_owned()]],
    }
}

/// Returns the modules that a file declares outside of tests: `mod name;`.
fn children(code: &str) -> BTreeSet<String> {
    let statements = code.split([';', '}', '{']).filter(|statement| !statement.contains("#[cfg(test)]"));
    let name = |statement: &str| {
        let (before, name) = statement.trim().rsplit_once("mod ")?;
        let is_declaration = before.is_empty() || before.ends_with([' ', ']', '\n']);
        (is_declaration && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')).then(|| name.to_owned())
    };
    statements.filter_map(name).collect()
}

/// Returns a file's code without comments, strings, and final unit tests.
fn code(text: &str) -> String {
    // The unit tests of a file, which another file's tests may use.
    let tests = text.find("mod tests {").and_then(|at| text[..at].rfind("#[cfg(test)]"));
    let text = &text[..tests.unwrap_or(text.len())];
    let mut code = String::new();
    for line in text.lines() {
        let mut in_string = false;
        let mut previous = ' ';
        for letter in line.chars() {
            if letter == '/' && previous == '/' && !in_string {
                code.pop();
                break;
            }
            // A quote in quotes is a character.
            if letter == '"' && previous != '\\' && previous != '\'' {
                in_string = !in_string;
            } else if !in_string {
                code.push(letter);
            }
            previous = letter;
        }
        code.push('\n');
    }
    code
}

#[test]
fn circles_are_found_through_groups_expressions_and_reexports() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("lib.rs", "pub mod a;\nmod b;\npub mod c;\n#[cfg(test)]\nmod d;\npub use b::{Item, other};\n");
    write("a.rs", "//! use crate::c;\nuse crate::{Item, c::{self, deep::Deep}};\n");
    write("b.rs", "// crate::a\npub struct Item;\n#[cfg(test)]\nmod tests { use crate::a; }\n");
    write("c/mod.rs", "pub mod deep;\npub use deep::Deep;\nconst TEXT: &str = \"crate::a::X\";\n");
    write("c/deep.rs", "use crate::b::Item;\nuse super::super::b;\n");
    write("d.rs", "use crate::a::X; // a module of tests\n");
    let start = folder.path().join("lib.rs");
    assert_eq!(cycles(&start), Vec::<String>::new());

    let circle = |file: &str, text: &str, edge: &str| {
        let before = read(&folder.path().join(file));
        write(file, &format!("{text}\n{before}"));
        let found = cycles(&start);
        assert!(matches!(&found[..], [one] if one.contains(edge)), "{text}: {found:?}");
        write(file, &before);
    };
    circle("b.rs", "fn f() { let x = crate::a::f(); }", "b uses a");
    circle("b.rs", "use super::a;", "b uses a");
    circle("c/deep.rs", "use crate::{b, a::f};", "c::deep uses a");
    circle("c/mod.rs", "use deep::f;\nuse crate::a::{f, g};", "c uses a");
    circle("b.rs", "use crate::c::Deep;", "b uses c::deep");
    circle("b.rs", "use crate::a::*;", "b uses a");
}
