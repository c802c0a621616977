//! `zwang explain`: the pages behind the messages.

use zwang::explain::{PAGES, explain as page};

use crate::terminal::{Exit, print, usage};

/// Prints the page of a code, or without a code the titles of all pages.
pub fn explain(code: Option<&str>) -> Exit {
    let title = |page: &str| page.lines().next().unwrap_or("").trim_start_matches("# ").to_string();
    match code {
        None => {
            let list: Vec<String> = PAGES.iter().map(|(_, page)| title(page)).collect();
            print(&format!("{}\n", list.join("\n")))
        }
        Some(code) => match page(code) {
            Some(page) => print(page),
            None => usage(&format!("there is no message `{code}`; `zwang explain` lists them all")),
        },
    }
}
