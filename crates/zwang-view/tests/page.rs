//! The page stands alone, keeps the user's text harmless and runs in a browser.

use crate::tool::browser;
use std::process::Command;
use zwang::scene::{Frames, Scene, SceneItem};
use zwang_view::{Article, Block, DerivationContext, Page, PagePlot, article_html, derivation, page};

const HOSTILE: &str = "</script><b>bold</b><!-- & \u{2028} \"quoted\" 'single'";

const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

fn scene(dimension: usize) -> Scene {
    let gone = [f64::NAN; 3];
    let place = vec![[0.0; 3], [1.0 / 3.0, 1.0, 0.0], gone];
    let axes = vec![[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]; 3];
    let shapes = [
        Frames::Point { place: place.clone(), has_mass: true },
        Frames::Rod { from: vec![[0.0; 3]; 3], to: place.clone() },
        Frames::Body { place: place.clone(), axes, radii: vec![0.5, 0.2, 0.1] },
        Frames::Trace { place: place.clone() },
        Frames::Force { at: place, force: vec![[0.0, -9.81, 0.0]; 3] },
    ];
    let things = shapes.map(|shape| SceneItem { name: HOSTILE.into(), shape }).to_vec();
    let unit = String::from;
    Scene {
        times: vec![0.0, 0.5, 2.0],
        dimension,
        length_unit: unit("m"),
        force_unit: unit("N"),
        time_unit: unit("s"),
        things,
    }
}

fn written(scene: &Scene) -> String {
    let plot = PagePlot {
        y_label: HOSTILE.into(),
        unit: "m".into(),
        t: vec![0.0, 1.0, 2.0],
        curves: vec![(HOSTILE.into(), vec![1.0, f64::INFINITY, 2.0]), ("flat".into(), vec![0.0; 3])],
    };
    let latex = |s: &str| s.to_string();
    page(&Page {
        title: HOSTILE,
        summary: HOSTILE,
        derivation: &[
            Block::Section(HOSTILE.into()),
            Block::Part(HOSTILE.into()),
            Block::Words(format!("`{HOSTILE}` ${HOSTILE}$ {HOSTILE}")),
            Block::List(vec![HOSTILE.into()]),
            Block::Code(HOSTILE.into()),
            Block::Table(vec![HOSTILE.into()], vec![vec![HOSTILE.into()]]),
            Block::Beside(vec![(HOSTILE.into(), vec![latex(HOSTILE)])]),
            Block::Picture("<svg></svg>".into(), HOSTILE.into()),
            Block::Formulas(vec![latex(r"\ddot{x} &= \frac{a}{b}"), latex(r"\text{</script><b>}"), latex(HOSTILE)]),
        ],
        scene,
        axes: AXES,
        plots: &[plot],
        events: &[(1.5, HOSTILE.into()), (f64::NAN, "never".into())],
        facts: &[(HOSTILE.into(), HOSTILE.into())],
        paths: &[],
    })
}

fn nothing() -> String {
    let scene = Scene::default();
    page(&Page {
        title: "Nothing",
        summary: "",
        derivation: &[],
        scene: &scene,
        axes: AXES,
        plots: &[],
        events: &[],
        facts: &[],
        paths: &[],
    })
}

fn data(page: &str) -> &str {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    rest.split_once("</script>").unwrap().0
}

#[test]
fn nothing_is_loaded() {
    for page in [written(&scene(2)), written(&scene(3)), nothing()] {
        for load in ["http://", "https://", " src=", "<link", "@import", "url("] {
            assert!(!page.contains(load), "{load}");
        }
    }
}

#[test]
fn the_users_text_stays_text() {
    let page = written(&scene(2));
    assert!(!page.contains("<b>") && !page.contains("<!--") && !data(&page).contains('\u{2028}'));
    assert_eq!(page.matches("</script>").count(), 2);
    let value: serde_json::Value = serde_json::from_str(data(&page)).unwrap();
    assert_eq!(value["things"][0]["name"], HOSTILE);
}

#[test]
fn values_that_are_not_numbers_are_null() {
    let page = written(&scene(2));
    let value: serde_json::Value = serde_json::from_str(data(&page)).unwrap();
    assert_eq!(value["things"][0]["p"].to_string(), "[0,0,0.3333333,1,null,null]");
    assert_eq!(value["plots"][0]["curves"][0]["v"].to_string(), "[1,null,2]");
    assert_eq!(value["plots"][0]["t"].to_string(), "[0,1,2]");
}

#[test]
fn formulas_of_models_are_typeset() {
    for name in ["pendulum", "rolling_disk", "double_pendulum_cartesian", "stick_slip_belt", "nonideal_particle"] {
        let path = format!("{}/../../models/{name}.zw", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut derived = zwang::derive(&text, &Default::default()).unwrap();
        let blocks = derivation(&mut derived.equations, &DerivationContext::default());
        let formulas = blocks.iter().filter(|block| matches!(block, Block::Formulas(_) | Block::Beside(_))).cloned();
        let article = Article { title: name.into(), blocks: formulas.collect() };
        let page = article_html(&article);
        assert!(article.blocks.len() > 4 && page.contains("<mfrac>") && !page.contains("<code>"), "{name}");
    }
}

#[test]
fn large_scenes_stay_small() {
    let place = |k: usize| (0..600).map(|i| [(i * k) as f64 / 7.0, 1.0 / (1 + i) as f64, (i as f64).sin()]).collect();
    let thing = |k: usize| SceneItem { name: format!("P{k}"), shape: Frames::Rod { from: place(k), to: place(k + 1) } };
    let times = (0..600).map(|k| k as f64 / 60.0).collect();
    let scene = Scene { times, dimension: 3, things: (0..20).map(thing).collect(), ..Scene::default() };
    assert!(written(&scene).len() < 3_000_000);
}

/// Every page draws itself in a browser without an error.
#[test]
fn a_browser_shows_it_without_error() {
    let Some(browser) = browser() else { return };
    let folder = std::env::temp_dir().join(format!("zwang-page-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let still = Scene { times: vec![0.0], things: Vec::new(), ..scene(2) };
    for (name, page) in [
        ("plane", written(&scene(2))),
        ("space", written(&scene(3))),
        ("still", written(&still)),
        ("nothing", nothing()),
    ] {
        let path = folder.join(format!("{name}.html"));
        std::fs::write(&path, page).unwrap();
        let mut shown = Command::new(&browser);
        shown
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=1500", "--dump-dom"])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .arg(format!("file://{}#t=0.5", path.display()));
        // a browser that does not start on a busy machine says nothing about the page
        let dom = (0..3).map(|_| shown.output().unwrap().stdout).find(|dom| !dom.is_empty()).unwrap_or_default();
        let dom = String::from_utf8_lossy(&dom);
        let root = dom.lines().find(|l| l.starts_with("<html")).unwrap_or_default();
        assert!(root.contains("data-ready=\"1\"") && !root.contains("data-error"), "{name}: {root}");
        if name == "plane" {
            assert!(dom.contains("t = 0.500\u{2009}s") || dom.contains("t = 0.500&#8201;s"), "the time of the address");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
