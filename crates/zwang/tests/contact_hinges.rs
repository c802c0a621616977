//! Linkages whose feet stand on a rough floor: rods that come to lie in line, chains that fall, balls in a column.

mod common;

use common::{close, told_at};
use zwang::Run;
use zwang::simulate::Ended;

/// Runs to the end with a closed account, and says nothing of singular positions or of friction without a motion.
#[track_caller]
fn lies(text: &str, tolerance: f64) -> Run {
    let (run, diagnostics) = told_at(text, tolerance);
    assert_eq!(run.ended, Ended::Finished, "{text}\n{diagnostics:#?}");
    assert!(!diagnostics.iter().any(|d| ["Z602", "Z603", "Z610"].contains(&d.code)), "{text}\n{diagnostics:#?}");
    let account = &run.audit.energy;
    assert!(account.drift.abs() <= 1e-8 * account.start.abs(), "{text}\n{account:?}");
    run
}

/// Two rods of 1.2 m, hinged 1 m above the floor, with masses at their ends.
fn frame(mu: f64, e: f64) -> String {
    let half = (1.44f64 - 1.0).sqrt();
    format!(
        "model \"frame\"\ncoordinates x1, y1, x, y, x2, y2\nparticle A at (x1, y1) with mass 1\n\
         particle H at (x, y) with mass 1\nparticle B at (x2, y2) with mass 1\ngravity (0, -9.81)\n\
         constraint left: (x-x1)^2 + (y-y1)^2 = 1.2^2\nconstraint right: (x-x2)^2 + (y-y2)^2 = 1.2^2\n\
         contact a: y1 >= 0 with friction {mu} and restitution {e}\n\
         contact b: y2 >= 0 with friction {mu} and restitution {e}\n\
         contact h: y >= 0 with friction {mu} and restitution {e}\n\
         start x1 = {0}, y1 = 0, x2 = {half}, y2 = 0, x = 0, y = 1\noutput height = y\nrun 2\n",
        -half
    )
}

/// Where the rods lie in line the feet stand still, and the hinge has all the energy: m g h without friction, and e² of it goes on.
/// The feet never stick while the hinge moves, however slowly, and at the end nothing is left above the floor.
#[test]
fn a_frame_bounces_on_its_hinge_until_it_lies() {
    for e in [0.3, 0.5] {
        let text = frame(0.0, e).replace("run 2", "run 0.8").replace(" with friction 0 and", " with");
        let run = lies(&text, 1e-10);
        close(run.audit.energy.impacts, -9.81 * (1.0 - e * e), 1e-8);
    }
    for (mu, e) in [(0.1, 0.3), (0.2, 0.3), (0.1, 0.5)] {
        for tolerance in [1e-8, 1e-10] {
            let run = lies(&frame(mu, e), tolerance);
            assert!(run.audit.energy.end.abs() < 1e-8, "{mu} {e}: {:?}", run.audit.energy);
        }
    }
}

/// The same of massive rods.
#[test]
fn a_frame_of_rods_bounces_until_it_lies() {
    for (mu, e) in [(0.1, 0.3), (0.2, 0.5)] {
        let text = format!(
            "model \"frame of rods\"\ncoordinates x1, y1, a, x2, y2, b\nparameter L = 1.2, m = 1\n\
             body R at (x1, y1) turned by a with mass m and inertia m*L^2/12\n\
             body S at (x2, y2) turned by b with mass m and inertia m*L^2/12\ngravity (0, -9.81)\n\
             point F = R.point(-L/2, 0)\npoint G = S.point(L/2, 0)\npoint H = R.point(L/2, 0)\n\
             constraint hinge: R.point(L/2, 0) = S.point(-L/2, 0)\n\
             contact f: F.y >= 0 with friction {mu} and restitution {e} and at F\n\
             contact g: G.y >= 0 with friction {mu} and restitution {e} and at G\n\
             contact h: H.y >= 0 with friction {mu} and restitution {e} and at H\n\
             start x1 = -L/2*cos(1), y1 = L/2*sin(1), a = 1, x2 = L/2*cos(1), y2 = L/2*sin(1), b = -1\nrun 2\n"
        );
        let run = lies(&text, 1e-10);
        assert!(run.audit.energy.end.abs() < 1e-8, "{mu} {e}: {:?}", run.audit.energy);
    }
}

/// An arch of two rods that lies flat but for a millionth carries nothing, although its feet share forces with others: its top falls
/// freely, for √(2h/g), but for the friction of the feet, which acts on it by the slope of the rods.
#[test]
fn a_flat_arch_does_not_stand() {
    let h: f64 = 1e-6;
    let foot = 1.8 - (0.81 - h * h).sqrt();
    let text = format!(
        "model \"arch\"\ncoordinates x0, y0, x1, y1, x2, y2, x3, y3, x4, y4\n\
         particle P0 at (x0, y0) with mass 0.3\nparticle P1 at (x1, y1) with mass 1.4\n\
         particle P2 at (x2, y2) with mass 0.7\nparticle P3 at (x3, y3) with mass 1.5\n\
         particle P4 at (x4, y4) with mass 1\ngravity (0, -9.81)\n\
         constraint r0: (x1-x0)^2 + (y1-y0)^2 = 0.9^2\nconstraint r1: (x2-x1)^2 + (y2-y1)^2 = 0.9^2\n\
         constraint r2: (x3-x2)^2 + (y3-y2)^2 = 0.9^2\nconstraint r3: (x4-x3)^2 + (y4-y3)^2 = 0.9^2\n\
         contact k0: y0 >= 0 with friction 0.6\ncontact k1: y1 >= 0 with friction 0.6\n\
         contact k2: y2 >= 0 with friction 0.6\ncontact k3: y3 >= 0 with friction 0.8\n\
         contact k4: y4 >= 0 with friction 1\n\
         start x0 = 0, y0 = 0, x1 = 0.9, y1 = 0, x2 = {top}, y2 = {h}, x3 = {x3}, y3 = 0, x4 = {x4}, y4 = 0\nrun 0.001\n",
        top = 1.8 - (foot - 0.9),
        x3 = 2.7 - 2.0 * (foot - 0.9),
        x4 = 3.6 - 2.0 * (foot - 0.9),
    );
    let (run, diagnostics) = told_at(&text, 1e-9);
    assert_eq!(run.ended, Ended::Finished, "{diagnostics:#?}");
    let impacts = common::times(&run, "impact");
    close(impacts[0], (2.0 * h / 9.81).sqrt(), 1e-7);
}

/// Chains that are thrown: at a take-off that friction reaches at the same time, and where a joint is struck beside rods almost in
/// line, there is one motion.
#[test]
fn thrown_chains_come_to_rest() {
    for text in [TAKES_OFF, ALMOST_IN_LINE, SHARES_NOTHING] {
        let (run, diagnostics) = told_at(text, 1e-9);
        assert_eq!(run.ended, Ended::Finished, "{diagnostics:#?}");
        let account = &run.audit.energy;
        assert!(account.drift.abs() <= 1e-8 * account.start.abs(), "{account:?}");
    }
}

/// When two balls in a column, let go from 1 m and 2 m, lie: from one impact to the next by formulas.
fn column_lies_at(masses: [f64; 2], e: [f64; 2]) -> f64 {
    let (g, [m1, m2], [floor, pair]) = (9.81, masses, e);
    let (mut t, mut low, mut gap, mut v1, mut v2) = (0.0, 1.0, 1.0, 0.0f64, 0.0f64);
    while t == 0.0 || v1.abs() + v2.abs() > 1e-11 {
        let lands = (v1 + (v1 * v1 + 2.0 * g * low).sqrt()) / g;
        let meets = if v2 < v1 { gap / (v1 - v2) } else { f64::INFINITY };
        let dt = f64::min(lands, meets);
        low = if lands < meets { 0.0 } else { low + v1 * dt - 0.5 * g * dt * dt };
        gap = if lands < meets { gap + (v2 - v1) * dt } else { 0.0 };
        (t, v1, v2) = (t + dt, v1 - g * dt, v2 - g * dt);
        if lands < meets {
            v1 *= -floor;
        } else {
            let (mean, apart) = ((m1 * v1 + m2 * v2) / (m1 + m2), pair * (v1 - v2));
            (v1, v2) = (mean - m2 / (m1 + m2) * apart, mean + m1 / (m1 + m2) * apart);
        }
    }
    t
}

/// Impacts of two contacts in turn become ever shorter, also on an elastic floor: both end at the same time.
#[test]
fn a_column_of_balls_comes_to_rest_in_time() {
    let cases = [
        ([1.0, 1.0], [1.0, 0.5]),
        ([1.0, 2.0], [1.0, 0.5]),
        ([1.0, 5.0], [1.0, 0.5]),
        ([1.0, 2.0], [0.5, 0.5]),
        ([1.0, 5.0], [0.8, 0.3]),
    ];
    for (masses, e) in cases {
        let text = format!(
            "model \"column\"\ncoordinates y1, y2\nparticle A at (0, y1) with mass {}\n\
             particle B at (0, y2) with mass {}\ngravity (0, -9.81)\ncontact floor: y1 >= 0 with restitution {}\n\
             contact pair: y2 - y1 >= 0 with restitution {}\nstart y1 = 1, y2 = 2\nrun 4\n",
            masses[0], masses[1], e[0], e[1]
        );
        let run = lies(&text, 1e-9);
        let rests = common::times(&run, "rest");
        assert_eq!(rests.len(), 2, "{masses:?} {e:?}");
        // four seconds at 1e-9, twice
        rests.iter().for_each(|t| close(*t, column_lies_at(masses, e), 8e-9));
    }
}

const TAKES_OFF: &str = r#"model "chain"
coordinates x0, y0, x1, y1, x2, y2, x3, y3, x4, y4, x5, y5
particle P0 at (x0, y0) with mass 0.839
particle P1 at (x1, y1) with mass 1.021
particle P2 at (x2, y2) with mass 0.717
particle P3 at (x3, y3) with mass 1.923
particle P4 at (x4, y4) with mass 1.173
particle P5 at (x5, y5) with mass 1.916
gravity (0, -9.81)
constraint r0: (x1-x0)^2 + (y1-y0)^2 = 0.793^2
constraint r1: (x2-x1)^2 + (y2-y1)^2 = 0.59^2
constraint r2: (x3-x2)^2 + (y3-y2)^2 = 0.708^2
constraint r3: (x4-x3)^2 + (y4-y3)^2 = 0.854^2
constraint r4: (x5-x4)^2 + (y5-y4)^2 = 0.689^2
constraint wall: (x0, y0) = (0, 1.914773423639574)
contact k1: y1 >= 0 with friction 0.286 and restitution 0
contact k2: y2 >= 0 with friction 0.324 and restitution 0
contact k3: y3 >= 0 with friction 0.9 and restitution 0
contact k4: y4 >= 0 with friction 0.302 and restitution 0
contact k5: y5 >= 0 with friction 0.868 and restitution 0
start x0 = 0.0, y0 = 1.914773423639574, x1 = 0.4440212148059037, y1 = 2.5718077916921818, x2 = 0.44726403128746595, y2 = 1.981816703504176, x3 = 0.29794122836640113, y3 = 1.2897425018987436, x4 = 0.7885664511440655, y4 = 0.5907411494148109, x5 = 0.42514908367697507, y5 = 1.1761032741062618
start x0' = 0.0, y0' = 0.0, x1' = 0.8022389633922341, y1' = -0.5421499032780084, x2' = 0.30251651169699345, y2' = -0.5448965688378916, x3' = 2.2977664349254554, y3' = -0.9753942096593213, x4' = 1.9356837343387783, y4' = -1.2295380750581515, x5' = 1.378418991632517, y5' = -1.5755114088868216
run 3 s
"#;

const ALMOST_IN_LINE: &str = r#"model "chain"
coordinates x0, y0, a0, x1, y1, a1, x2, y2, a2, x3, y3, a3, x4, y4, a4
body R0 at (x0, y0) turned by a0 with mass 0.557 and inertia 0.557*0.999^2/12
body R1 at (x1, y1) turned by a1 with mass 1.501 and inertia 1.501*0.436^2/12
body R2 at (x2, y2) turned by a2 with mass 1.532 and inertia 1.532*0.77^2/12
body R3 at (x3, y3) turned by a3 with mass 1.602 and inertia 1.602*0.364^2/12
body R4 at (x4, y4) turned by a4 with mass 1.05 and inertia 1.05*0.83^2/12
gravity (0, -9.81)
point P0 = R0.point(-0.999/2, 0)
point P1 = R1.point(-0.436/2, 0)
point P2 = R2.point(-0.77/2, 0)
point P3 = R3.point(-0.364/2, 0)
point P4 = R4.point(-0.83/2, 0)
point P5 = R4.point(0.83/2, 0)
constraint h0: R0.point(0.999/2, 0) = R1.point(-0.436/2, 0)
constraint h1: R1.point(0.436/2, 0) = R2.point(-0.77/2, 0)
constraint h2: R2.point(0.77/2, 0) = R3.point(-0.364/2, 0)
constraint h3: R3.point(0.364/2, 0) = R4.point(-0.83/2, 0)
constraint wall: (P0.x, P0.y) = (0, 0.3734817682953694)
contact k1: P1.y >= 0 with friction 0.204 and restitution 0.5 and at P1
contact k2: P2.y >= 0 with friction 0.565 and restitution 0.5 and at P2
contact k3: P3.y >= 0 with friction 0.962 and restitution 0.5 and at P3
contact k4: P4.y >= 0 with friction 0.765 and restitution 0.5 and at P4
contact k5: P5.y >= 0 with friction 0.5 and restitution 0.5 and at P5
start x0 = 0.4994994380626053, y0 = 0.3727325185763381, a0 = -0.0015, x1 = 0.7811008824085589, y1 = 0.3786514270931322, a1 = 3.111, x2 = 0.711139496908082, y2 = 0.7407626327352812, a2 = 1.1764, x3 = 0.8635521852464407, y3 = 0.9142607304817151, a3 = -1.5462, x4 = 1.1854912368111816, y4 = 0.999602633777339, a4 = 0.6998
start x0' = 0.000814434444587003, y0' = 0.542955889174052, a0' = 1.087, x1' = -0.016781915999939917, y1' = 0.4842954176964286, a1' = 2.761, x2' = 0.8722533991392903, y2' = -0.49500310373114126, a2' = -2.553, x3' = 1.9423582841635758, y3' = -0.8686836488778031, a3' = 0.894, x4' = 1.8470852560574467, y4' = -0.5583302658065032, a4' = 0.965
run 3 s
"#;

const SHARES_NOTHING: &str = r#"model "chain"
coordinates x, y, a0, a1, a2
particle P0 at (x, y) with mass 1.186
particle P1 at (x + 0.947*cos(a0), y + 0.947*sin(a0)) with mass 1.0
particle P2 at (x + 0.947*cos(a0) + 0.618*cos(a1), y + 0.947*sin(a0) + 0.618*sin(a1)) with mass 0.726
particle P3 at (x + 0.947*cos(a0) + 0.618*cos(a1) + 0.364*cos(a2), y + 0.947*sin(a0) + 0.618*sin(a1) + 0.364*sin(a2)) with mass 0.592
gravity (0, -9.81)
contact k0: P0.y >= 0 with friction 0.255 and restitution 0.5 and at P0
contact k1: P1.y >= 0 with friction 0.731 and restitution 0.5 and at P1
contact k2: P2.y >= 0 with friction 0.282 and restitution 0.5 and at P2
contact k3: P3.y >= 0 with friction 0.179 and restitution 0.5 and at P3
start x = 0.0, y = 0.5492563516343534, x' = -0.678, y' = -0.379, a0 = 1.6177, a1 = -0.1276, a2 = 0.2359, a0' = -0.552, a1' = -0.101, a2' = -0.287
run 3 s
"#;
