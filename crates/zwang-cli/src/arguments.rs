//! The command line: every command with its examples.

use clap::{Args, Parser, Subcommand, ValueEnum};
use zwang_motion::{Method, RouteName};

use crate::budget::CommandLimits;
use crate::files::Destination;
use crate::time_argument::{time, time_or_zero};

const EXAMPLES: &str = "\
Examples:
  zwang new pendulum                          write a first model, pendulum.zw
  zwang run pendulum.zw                       simulate it and print a summary
  zwang run pendulum.zw -o pendulum.html      the same as a page with animation, plots and derivation
  zwang check pendulum.zw                     what the constraints say, all mistakes at once
  zwang equations pendulum.zw                 L, M, Q, A, b and the explicit equations of motion
  zwang inspect pendulum.zw --set l=2         every quantity at the start, by six routes
  zwang inverse arm.zw path.csv               the forces that produce a given path
  zwang export arm.zw --to c                  the control force as a function, in C, Rust or Python
  zwang bench pendulum.zw                     what it costs
  zwang explain Z201                          the page behind a message";

/// Constrained mechanical systems: from a model text to explicit equations and to the motion.
#[derive(Parser)]
#[command(name = "zwang", version, about, before_help = EXAMPLES, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Check a model, derive its equations, simulate it and print a summary
    #[command(
        before_help = "Examples:\n  zwang run models/pendulum.zw\n  zwang run pendulum.zw --set \"l=50 cm\" --to 20 -o pendulum.csv -o pendulum.html\n  zwang run pendulum.zw --drift compare\n  cat pendulum.zw | zwang run - --json | jq .energy"
    )]
    Run(RunModel),
    /// Analyse without integrating: kinds, rank, redundancy, start
    #[command(
        before_help = "Examples:\n  zwang check pendulum.zw\n  zwang check pendulum.zw --json\n  zwang check pendulum.zw --fix         write what is sure to be meant into the file\n  zwang check pendulum.zw --start \"x=0.6, y=0.8\""
    )]
    Check {
        #[command(flatten)]
        model: OneModel,
        /// Write the cures of messages that have just one into the file, then check it
        #[arg(long)]
        fix: bool,
    },
    /// Print L, M, Q, A, b and the explicit equations of motion, or write their derivation
    #[command(
        before_help = "Examples:\n  zwang equations pendulum.zw\n  zwang equations pendulum.zw -o pendulum.html     the derivation step by step: .html, .tex or .md\n  zwang equations pendulum.zw --format latex       the formulas alone, to paste\n  zwang equations pendulum.zw --format sympy -o p.py   as code: sympy, numpy, c or rust\n  zwang equations pendulum.zw --lagrangian         momenta, the forms of L, the Hamiltonian"
    )]
    Equations {
        #[command(flatten)]
        model: ModelSource,
        /// How to write them; text, or as the extension of --output says
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// The Lagrangian's side instead: momenta, one-form, two-form, energy, Hamiltonian
        #[arg(long)]
        lagrangian: bool,
        /// Where to write them, instead of standard output
        #[arg(short, long = "output", value_name = "FILE", help_heading = OUTPUT)]
        output: Option<std::path::PathBuf>,
    },
    /// Show every quantity at the start or at a later time, by every route
    #[command(
        before_help = "Examples:\n  zwang inspect pendulum.zw\n  zwang inspect pendulum.zw --at 2.5\n  zwang inspect pendulum.zw --start \"x=0.6, y=-0.8, x'=1.6, y'=1.2\"\n  zwang inspect pendulum.zw --json | jq .lambda\n  zwang inspect pendulum.zw --at 1 -o pull.svg     the geometry of least constraint, drawn"
    )]
    Inspect {
        #[command(flatten)]
        model: OneModel,
        /// Time to look at, such as 2.5 or "50 ms"; the model is simulated up to there
        #[arg(long, value_name = "TIME", value_parser = time_or_zero, allow_negative_numbers = true)]
        at: Option<f64>,
        /// Error allowed per step on the way there, relative
        #[arg(long, value_name = "NUMBER", value_parser = tolerance, allow_negative_numbers = true)]
        tolerance: Option<f64>,
        /// Draw the scaled accelerations and what the constraints do to them: .svg or .png
        ///
        /// Drawn for constraints that contradict each other too: the gap between them is shown.
        #[arg(short, long = "output", value_name = "FILE", help_heading = OUTPUT)]
        output: Vec<Destination>,
    },
    /// Find equilibria, and the linear equations, eigenvalues and modes there
    #[command(
        before_help = "Examples:\n  zwang linearize pendulum.zw                      equilibria, and whether they are stable\n  zwang linearize bicycle.zw --set w=0 --set v=5   a steady motion, where the start is one\n  zwang linearize pendulum.zw --at 2.5             near the motion at a time\n  zwang linearize pendulum.zw --json | jq .states[0].K"
    )]
    Linearize {
        #[command(flatten)]
        model: OneModel,
        /// Time at which to linearize, such as 0, 2.5 or "50 ms"; the model is simulated up to there
        #[arg(long, value_name = "TIME", value_parser = time_or_zero, allow_negative_numbers = true)]
        at: Option<f64>,
    },
    /// Find the forces that produce a given path, a table of times and coordinates
    #[command(
        before_help = "Examples:\n  zwang inverse arm.zw path.csv                    the forces, and whether they can\n  zwang inverse arm.zw path.csv --using q1,q2 -o forces.csv\n  zwang run arm.zw -o path.csv                     a path to start from: columns t, q1, q2, …"
    )]
    Inverse(InverseModel),
    /// Write the control force, or without controls the acceleration, as source code
    #[command(
        before_help = "Examples:\n  zwang export arm.zw --to c > arm.c\n  zwang export arm.zw --to rust -o arm.rs\n  zwang export arm.zw --to python -o arm.py"
    )]
    Export {
        #[command(flatten)]
        model: ModelSource,
        /// The language
        #[arg(long, value_enum)]
        to: CodeLanguage,
        /// Where to write it, instead of standard output
        #[arg(short, long = "output", value_name = "FILE", help_heading = OUTPUT)]
        output: Option<std::path::PathBuf>,
    },
    /// Measure what a model costs: derivation, code, one acceleration, one simulated second, memory
    #[command(
        before_help = "Examples:\n  zwang bench pendulum.zw\n  zwang bench pendulum.zw --tolerance 1e-12\n  zwang bench chain.zw --set n=500 --no-run --json"
    )]
    Bench(BenchModel),
    /// Explain a message code
    #[command(before_help = "Examples:\n  zwang explain Z201\n  zwang explain            list all codes")]
    Explain {
        /// The code, such as Z201
        code: Option<String>,
    },
    /// Write a commented model to start from
    #[command(
        before_help = "Examples:\n  zwang new pendulum       writes pendulum.zw\n  zwang new rolling        writes rolling.zw, a disk that rolls\n  zwang new --list"
    )]
    New {
        /// Name of the file to write, without .zw; a template of that name is used if there is one
        name: Option<String>,
        /// List the templates
        #[arg(long)]
        list: bool,
    },
    /// Write completions for a shell
    #[command(before_help = "Example:\n  zwang completions bash > ~/.local/share/bash-completion/completions/zwang")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual page
    #[command(before_help = "Example:\n  zwang manual > ~/.local/share/man/man1/zwang.1")]
    Manual,
}

/// Where the model comes from and what the command line changes in it.
#[derive(Args)]
pub struct ModelSource {
    /// The model file, or - for standard input
    pub model: String,
    /// Change a parameter or a constant: l=2, "l=50 cm", n=5
    #[arg(long, value_name = "NAME=VALUE", help_heading = MODEL)]
    pub set: Vec<String>,
    /// Change entries of the start: "x=1, x'=0" or der(x)=0
    #[arg(long, value_name = "ENTRIES", help_heading = MODEL)]
    pub start: Vec<String>,
    /// Let the model read tables from here too; its own folder and those below are allowed
    #[arg(long, value_name = "DIR", help_heading = MODEL)]
    pub allow_files: Vec<std::path::PathBuf>,
    /// End when this is spent: "10 s", or some of steps=1e6,events=1e4,memory=1GB,cells=1e7
    ///
    /// A time alone is processor time. Cells are rows times columns, `parts` the expressions of the model. A run that ends
    /// so writes what it has; its outcome is `budget` and the exit code 3. Unless more is allowed, a model has twenty
    /// million parts, a run a million events and a hundred million cells (twenty million for .json and documents).
    #[arg(long, value_name = "LIMITS", help_heading = MODEL)]
    pub budget: Vec<CommandLimits>,
}

/// A model and how to look at it.
#[derive(Args)]
pub struct OneModel {
    #[command(flatten)]
    pub source: ModelSource,
    /// Take the nearest consistent start instead of refusing one that is off
    #[arg(long, help_heading = MODEL)]
    pub fix_start: bool,
    /// Smallest direction that counts in the rank, relative
    #[arg(long, value_name = "NUMBER", help_heading = INTEGRATION)]
    pub rank_tolerance: Option<f64>,
    /// Way to the acceleration
    ///
    /// generalized-inverse, any-inverse, multipliers, least-constraint, quasi-velocities or two-form.
    #[arg(long, value_name = "NAME", default_value = "generalized-inverse", help_heading = INTEGRATION)]
    pub route: RouteName,
    /// Print one JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

/// How far a model is moved, how precisely and by what.
#[derive(Args)]
pub struct RunArguments {
    /// When to end: 20, "500 ms", 0 for the start alone; as the model states, else 10
    #[arg(long, value_name = "TIME", help_heading = INTEGRATION, value_parser = time_or_zero, allow_negative_numbers = true)]
    pub to: Option<f64>,
    /// Error allowed per step, relative; as the model states, else 1e-9
    #[arg(long, value_name = "NUMBER", help_heading = INTEGRATION, value_parser = tolerance, allow_negative_numbers = true)]
    pub tolerance: Option<f64>,
    /// auto, order8, order5, stiff, rattle or rattle4
    ///
    /// auto takes order8 or order5 by the tolerance, and stiff where the motion turns out to be so; rattle and rattle4
    /// are symplectic, with a fixed --step, for long runs of systems with constraints on positions.
    #[arg(long, value_name = "NAME", help_heading = INTEGRATION)]
    pub method: Option<Method>,
}

/// A model, how to move it and what to write.
#[derive(Args)]
pub struct RunModel {
    #[command(flatten)]
    pub model: OneModel,
    #[command(flatten)]
    pub integration: RunArguments,
    /// Step of rattle and rattle4, longest step of others: "10 ms"
    #[arg(long, value_name = "TIME", help_heading = INTEGRATION, value_parser = time, allow_negative_numbers = true)]
    pub step: Option<f64>,
    /// On the constraints by: project, baumgarte, none, or compare all
    #[arg(long, value_enum, hide_possible_values = true, value_name = "NAME", default_value = "project", help_heading = INTEGRATION)]
    pub drift: DriftChoice,
    /// Write a file by its extension, or CSV to - ; may be repeated
    ///
    /// .csv .parquet .npz .json: the motion as numbers; .svg .png: the plots; .html: a page with animation, plots,
    /// derivation and audit; .tex .md: the same as a document to print.
    #[arg(short, long = "output", value_name = "FILE", help_heading = OUTPUT)]
    pub output: Vec<Destination>,
    /// Time between two rows: 0.01, "10 ms"; a thousandth of the run
    #[arg(long, value_name = "TIME", help_heading = OUTPUT, value_parser = time, allow_negative_numbers = true)]
    pub every: Option<f64>,
    /// Draw the plots in the terminal
    #[arg(long, help_heading = OUTPUT)]
    pub plot: bool,
    /// Call the columns of a CSV `x [m]` instead of `x`
    #[arg(long, help_heading = OUTPUT)]
    pub units_in_header: bool,
}

/// A model and how to move it while it is measured.
#[derive(Args)]
pub struct BenchModel {
    #[command(flatten)]
    pub model: OneModel,
    #[command(flatten)]
    pub integration: RunArguments,
    /// Machine code: best, quick, or none to interpret
    #[arg(long, value_enum, hide_possible_values = true, value_name = "NAME", default_value = "best", help_heading = INTEGRATION)]
    pub code: CodeChoice,
    /// Measure one acceleration, but do not move the model
    #[arg(long, help_heading = INTEGRATION)]
    pub no_run: bool,
}

/// A model, and the path it is to take.
#[derive(Args)]
pub struct InverseModel {
    #[command(flatten)]
    pub source: ModelSource,
    /// The path: a CSV whose first column is the time, with a column for every coordinate
    pub path: String,
    /// Only these coordinates are driven; as the controls state, else all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = MODEL)]
    pub using: Vec<String>,
    /// Write forces, reactions and residuals: .csv, .npz or .parquet; CSV to -
    #[arg(short, long = "output", value_name = "FILE", help_heading = OUTPUT)]
    pub output: Vec<Destination>,
    /// Call the columns of a CSV `x [m]` instead of `x`
    #[arg(long, help_heading = OUTPUT)]
    pub units_in_header: bool,
    /// Print one JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

/// How programs are run.
#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum CodeChoice {
    /// Machine code, as good as can be
    Best,
    /// Machine code, made fast
    Quick,
    /// Interpreted
    None,
}

/// What keeps the system on the constraints.
#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum DriftChoice {
    /// Put every accepted state on them
    Project,
    /// Let errors die out as a damped oscillator does
    Baumgarte,
    /// Nothing
    None,
    /// All three, side by side
    Compare,
}

const MODEL: &str = "Model";
const INTEGRATION: &str = "Integration";
const OUTPUT: &str = "Output";

/// A tolerance that means something in double precision.
fn tolerance(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (1e-14..=0.1).contains(&value) => Ok(value),
        _ => Err("type a number from 1e-14 to 0.1, such as 1e-9".into()),
    }
}

/// A language that code is written in.
#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum CodeLanguage {
    /// C99 with math.h
    C,
    /// Rust, no dependencies
    Rust,
    /// Python 3 with math
    Python,
}

/// How equations are written.
#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line per equation, in the syntax of models
    Text,
    /// LaTeX: formulas for a document with amsmath, or in a file the whole derivation, ready to be set
    Latex,
    /// The derivation as Markdown
    Markdown,
    /// The derivation as a page
    Html,
    /// The formulas as functions in Rust
    Rust,
    /// The formulas as functions in C99
    C,
    /// The formulas as functions in Python with NumPy
    Numpy,
    /// The formulas as SymPy expressions
    Sympy,
}

impl Format {
    /// What to write: as `--format` says, else as the file is called, else text; or why the two do not go together.
    pub fn wanted(format: Option<Format>, file: Option<&std::path::Path>) -> Result<Format, String> {
        let named = file.map(|path| (path, Format::of(path)));
        match (format, named) {
            (None, None) => Ok(Format::Text),
            (None, Some((_, named))) => named,
            // both are Python
            (Some(Format::Sympy), Some((_, Ok(Format::Numpy)))) => Ok(Format::Sympy),
            (Some(format), Some((path, Ok(named)))) if named != format => Err(format!(
                "`{}` is called as if it were something else than --format says; leave --format out, or give the file another \
                 extension",
                path.display()
            )),
            (Some(format), _) => Ok(format),
        }
    }

    /// As the extension of a file says.
    fn of(path: &std::path::Path) -> Result<Format, String> {
        const EXTENSIONS: [(&str, Format); 7] = [
            ("html", Format::Html),
            ("tex", Format::Latex),
            ("md", Format::Markdown),
            ("txt", Format::Text),
            ("rs", Format::Rust),
            ("c", Format::C),
            ("py", Format::Numpy),
        ];
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
        match EXTENSIONS.iter().find(|(name, _)| *name == extension) {
            Some((_, format)) => Ok(*format),
            None => {
                let known: Vec<String> = EXTENSIONS.iter().map(|(name, _)| format!(".{name}")).collect();
                Err(format!(
                    "`{}` needs an extension that says what to write: {}; or say --format",
                    path.display(),
                    known.join(" ")
                ))
            }
        }
    }
}
