//! The command line: every command with its examples.

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  zwang new pendulum                          write a first model, pendulum.zw
  zwang check pendulum.zw                     what the constraints say, all mistakes at once
  zwang equations pendulum.zw                 L, M, Q, A, b and the explicit equations of motion
  zwang inspect pendulum.zw --set l=2         every quantity at the start, by six routes
  zwang explain Z201                          the page behind a message";

/// Constrained mechanical systems: from a model text to explicit equations of motion.
#[derive(Parser)]
#[command(name = "zwang", version, about, before_help = EXAMPLES, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Check a model, derive its equations and report (simulation is not part of this version)
    #[command(
        before_help = "Examples:\n  zwang run models/pendulum.zw\n  zwang run pendulum.zw --set \"l=50 cm\" --start \"x=l\"\n  cat pendulum.zw | zwang run - --json"
    )]
    Run(OneModel),
    /// Say all that can be said without integrating: kinds, rank, redundancy, start
    #[command(
        before_help = "Examples:\n  zwang check pendulum.zw\n  zwang check pendulum.zw --json\n  zwang check pendulum.zw --start \"x=0.6, y=0.8\""
    )]
    Check(OneModel),
    /// Print L, M, Q, A, b and the explicit equations of motion
    #[command(
        before_help = "Examples:\n  zwang equations pendulum.zw\n  zwang equations pendulum.zw --format latex > pendulum.tex"
    )]
    Equations {
        #[command(flatten)]
        model: ModelSource,
        /// How to write them
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Show every quantity at the start, by every route
    #[command(
        before_help = "Examples:\n  zwang inspect pendulum.zw\n  zwang inspect pendulum.zw --start \"x=0.6, y=-0.8, x'=1.6, y'=1.2\"\n  zwang inspect pendulum.zw --json | jq .lambda"
    )]
    Inspect {
        #[command(flatten)]
        model: OneModel,
        /// Time to look at; before there is motion only the start, 0
        #[arg(long, value_name = "T")]
        at: Option<f64>,
    },
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
}

/// Where the model comes from and what the command line changes in it.
#[derive(Args)]
pub struct ModelSource {
    /// The model file, or - for standard input
    pub model: String,
    /// Change a parameter or a constant: l=2, "l=50 cm", n=5
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Change entries of the start: "x=1, x'=0" or der(x)=0
    #[arg(long, value_name = "ENTRIES")]
    pub start: Vec<String>,
}

/// A model and how to look at it.
#[derive(Args)]
pub struct OneModel {
    #[command(flatten)]
    pub source: ModelSource,
    /// Take the nearest consistent start instead of refusing one that is off
    #[arg(long)]
    pub fix_start: bool,
    /// Directions of the constraints smaller than this, relative to the largest, do not count in the rank
    #[arg(long, value_name = "NUMBER")]
    pub rank_tolerance: Option<f64>,
    /// The route whose answer is shown: generalized-inverse, any-inverse, multipliers, least-constraint,
    /// quasi-velocities or two-form
    #[arg(long, value_name = "NAME", default_value = "generalized-inverse")]
    pub route: zwang_motion::RouteName,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// How equations are written.
#[derive(Copy, Clone, ValueEnum)]
pub enum Format {
    /// One line per equation, in the syntax of models
    Text,
    /// LaTeX, for a document with amsmath
    Latex,
}
