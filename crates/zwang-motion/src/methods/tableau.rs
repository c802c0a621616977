//! Coefficients of the explicit Runge-Kutta methods, as data.

use crate::dynamics::{NodeGap, Tableau};

/// Dormand and Prince of order 8 with estimates of order 5 and 3, Hairer's DOP853.
pub static ORDER_8: Tableau = Tableau {
    order: 8,
    n_stages: 12,
    c: &[
        0.0,
        0.05260015195876773,
        0.0789002279381516,
        0.1183503419072274,
        0.2816496580927726,
        0.3333333333333333,
        0.25,
        0.3076923076923077,
        0.6512820512820513,
        0.6,
        0.8571428571428571,
        1.0,
        1.0,
        0.1,
        0.2,
        0.7777777777777778,
    ],
    a: &[
        &[],
        &[(0, 0.05260015195876773)],
        &[(0, 0.0197250569845379), (1, 0.0591751709536137)],
        &[(0, 0.02958758547680685), (2, 0.08876275643042054)],
        &[(0, 0.2413651341592667), (2, -0.8845494793282861), (3, 0.924834003261792)],
        &[(0, 0.037037037037037035), (3, 0.17082860872947386), (4, 0.12546768756682242)],
        &[(0, 0.037109375), (3, 0.17025221101954405), (4, 0.06021653898045596), (5, -0.017578125)],
        &[
            (0, 0.03709200011850479),
            (3, 0.17038392571223998),
            (4, 0.10726203044637328),
            (5, -0.015319437748624402),
            (6, 0.008273789163814023),
        ],
        &[
            (0, 0.6241109587160757),
            (3, -3.3608926294469414),
            (4, -0.868219346841726),
            (5, 27.59209969944671),
            (6, 20.154067550477894),
            (7, -43.48988418106996),
        ],
        &[
            (0, 0.47766253643826434),
            (3, -2.4881146199716677),
            (4, -0.590290826836843),
            (5, 21.230051448181193),
            (6, 15.279233632882423),
            (7, -33.28821096898486),
            (8, -0.020331201708508627),
        ],
        &[
            (0, -0.9371424300859873),
            (3, 5.186372428844064),
            (4, 1.0914373489967295),
            (5, -8.149787010746927),
            (6, -18.52006565999696),
            (7, 22.739487099350505),
            (8, 2.4936055526796523),
            (9, -3.0467644718982196),
        ],
        &[
            (0, 2.273310147516538),
            (3, -10.53449546673725),
            (4, -2.0008720582248625),
            (5, -17.9589318631188),
            (6, 27.94888452941996),
            (7, -2.8589982771350235),
            (8, -8.87285693353063),
            (9, 12.360567175794303),
            (10, 0.6433927460157636),
        ],
        &[
            (0, 0.054293734116568765),
            (5, 4.450312892752409),
            (6, 1.8915178993145003),
            (7, -5.801203960010585),
            (8, 0.3111643669578199),
            (9, -0.1521609496625161),
            (10, 0.20136540080403034),
            (11, 0.04471061572777259),
        ],
        &[
            (0, 0.056167502283047954),
            (6, 0.25350021021662483),
            (7, -0.2462390374708025),
            (8, -0.12419142326381637),
            (9, 0.15329179827876568),
            (10, 0.00820105229563469),
            (11, 0.007567897660545699),
            (12, -0.008298),
        ],
        &[
            (0, 0.03183464816350214),
            (5, 0.028300909672366776),
            (6, 0.053541988307438566),
            (7, -0.05492374857139099),
            (10, -0.00010834732869724932),
            (11, 0.0003825710908356584),
            (12, -0.00034046500868740456),
            (13, 0.1413124436746325),
        ],
        &[
            (0, -0.42889630158379194),
            (5, -4.697621415361164),
            (6, 7.683421196062599),
            (7, 4.06898981839711),
            (8, 0.3567271874552811),
            (12, -0.0013990241651590145),
            (13, 2.9475147891527724),
            (14, -9.15095847217987),
        ],
    ],
    b: &[
        (0, 0.054293734116568765),
        (5, 4.450312892752409),
        (6, 1.8915178993145003),
        (7, -5.801203960010585),
        (8, 0.3111643669578199),
        (9, -0.1521609496625161),
        (10, 0.20136540080403034),
        (11, 0.04471061572777259),
    ],
    error: &[
        (0, 0.01312004499419488),
        (5, -1.2251564463762044),
        (6, -0.4957589496572502),
        (7, 1.6643771824549864),
        (8, -0.35032884874997366),
        (9, 0.3341791187130175),
        (10, 0.08192320648511571),
        (11, -0.022355307863886294),
    ],
    coarse: &[
        (0, -0.18980075407240762),
        (5, 4.450312892752409),
        (6, 1.8915178993145003),
        (7, -5.801203960010585),
        (8, -0.4226823213237919),
        (9, -0.1521609496625161),
        (10, 0.20136540080403034),
        (11, 0.02265179219836082),
    ],
    dense: &[
        &[
            (0, -8.428938276109013),
            (5, 0.5667149535193777),
            (6, -3.0689499459498917),
            (7, 2.38466765651207),
            (8, 2.117034582445028),
            (9, -0.871391583777973),
            (10, 2.2404374302607883),
            (11, 0.6315787787694688),
            (12, -0.08899033645133331),
            (13, 18.148505520854727),
            (14, -9.194632392478356),
            (15, -4.436036387594894),
        ],
        &[
            (0, 10.427508642579134),
            (5, 242.28349177525817),
            (6, 165.20045171727028),
            (7, -374.5467547226902),
            (8, -22.113666853125306),
            (9, 7.733432668472264),
            (10, -30.674084731089398),
            (11, -9.332130526430229),
            (12, 15.697238121770845),
            (13, -31.139403219565178),
            (14, -9.35292435884448),
            (15, 35.81684148639408),
        ],
        &[
            (0, 19.985053242002433),
            (5, -387.0373087493518),
            (6, -189.17813819516758),
            (7, 527.8081592054236),
            (8, -11.57390253995963),
            (9, 6.8812326946963),
            (10, -1.0006050966910838),
            (11, 0.7777137798053443),
            (12, -2.778205752353508),
            (13, -60.19669523126412),
            (14, 84.32040550667716),
            (15, 11.99229113618279),
        ],
        &[
            (0, -25.69393346270375),
            (5, -154.18974869023643),
            (6, -231.5293791760455),
            (7, 357.6391179106141),
            (8, 93.40532418362432),
            (9, -37.45832313645163),
            (10, 104.0996495089623),
            (11, 29.8402934266605),
            (12, -43.53345659001114),
            (13, 96.32455395918828),
            (14, -39.17726167561544),
            (15, -149.72683625798564),
        ],
    ],
    gap: NodeGap { from: 0.38, middle: 0.467, to: 0.55 },
};

/// Dormand and Prince of order 5 with an estimate of order 4, Hairer's DOPRI5.
pub static ORDER_5: Tableau = Tableau {
    order: 5,
    n_stages: 6,
    c: &[0.0, 0.2, 0.3, 0.8, 0.8888888888888888, 1.0, 1.0],
    a: &[
        &[],
        &[(0, 0.2)],
        &[(0, 0.075), (1, 0.225)],
        &[(0, 0.9777777777777777), (1, -3.7333333333333334), (2, 3.5555555555555554)],
        &[(0, 2.9525986892242035), (1, -11.595793324188385), (2, 9.822892851699436), (3, -0.2908093278463649)],
        &[
            (0, 2.8462752525252526),
            (1, -10.757575757575758),
            (2, 8.906422717743473),
            (3, 0.2784090909090909),
            (4, -0.2735313036020583),
        ],
        &[
            (0, 0.09114583333333333),
            (2, 0.44923629829290207),
            (3, 0.6510416666666666),
            (4, -0.322376179245283),
            (5, 0.13095238095238096),
        ],
    ],
    b: &[
        (0, 0.09114583333333333),
        (2, 0.44923629829290207),
        (3, 0.6510416666666666),
        (4, -0.322376179245283),
        (5, 0.13095238095238096),
    ],
    error: &[
        (0, 0.0012326388888888888),
        (2, -0.0042527702905061394),
        (3, 0.03697916666666667),
        (4, -0.05086379716981132),
        (5, 0.0419047619047619),
        (6, -0.025),
    ],
    coarse: &[],
    dense: &[&[
        (0, -1.1270175653862835),
        (2, 2.675424484351598),
        (3, -5.685526961588504),
        (4, 3.5219323679207912),
        (5, -1.7672812570757455),
        (6, 2.382468931778144),
    ]],
    gap: NodeGap { from: 0.4, middle: 0.55, to: 0.7 },
};

#[cfg(test)]
mod tests {
    use super::super::step::Step;
    use super::*;

    /// The degree of the dense polynomial, which is its order.
    fn dense_order(tableau: &Tableau) -> i32 {
        3 + tableau.dense.len() as i32
    }

    /// Stage by stage: the sum of a row with the values of the stages, and the same with every term made positive.
    type Stages = Vec<(f64, f64)>;

    /// A rooted tree: the trees that grow from its root.
    #[derive(Clone, Debug)]
    struct Tree(Vec<Tree>);

    impl Tree {
        /// Number of nodes.
        fn order(&self) -> i32 {
            1 + self.0.iter().map(Tree::order).sum::<i32>()
        }

        /// γ, the product of the orders of all subtrees: Σ bᵢΦᵢ = 1/γ is the condition of the tree.
        fn density(&self) -> f64 {
            f64::from(self.order()) * self.0.iter().map(Tree::density).product::<f64>()
        }

        /// Φ: at each stage the product over the branches of Σ aᵢⱼΦⱼ.
        fn weights(&self, tableau: &Tableau) -> Stages {
            let one = vec![(1.0, 1.0); tableau.a.len()];
            self.0.iter().fold(one, |product, branch| {
                let inner = branch.weights(tableau);
                let row = |i: usize| sum(tableau.a[i], &inner);
                product.iter().enumerate().map(|(i, x)| (x.0 * row(i).0, x.1 * row(i).1)).collect()
            })
        }
    }

    fn sum(weights: &[(usize, f64)], stages: &Stages) -> (f64, f64) {
        let add = |s: (f64, f64), (i, w): &(usize, f64)| (s.0 + w * stages[*i].0, s.1 + w.abs() * stages[*i].1);
        weights.iter().fold((0.0, 0.0), add)
    }

    /// Coefficients and sums are rounded: a few units in the last place of every term.
    fn rounding(size: f64) -> f64 {
        8.0 * f64::EPSILON * size.max(1.0)
    }

    fn leaf() -> Tree {
        Tree(vec![])
    }

    fn bush(n: usize) -> Tree {
        Tree(vec![leaf(); n])
    }

    fn stalk(tree: Tree) -> Tree {
        Tree(vec![tree])
    }

    /// The 17 rooted trees with up to five nodes, after Hairer, Nørsett and Wanner, table II.2.1.
    fn trees() -> Vec<Tree> {
        let trees = vec![
            leaf(),
            bush(1),
            bush(2),
            stalk(bush(1)),
            bush(3),
            Tree(vec![leaf(), bush(1)]),
            stalk(bush(2)),
            stalk(stalk(bush(1))),
            bush(4),
            Tree(vec![leaf(), leaf(), bush(1)]),
            Tree(vec![leaf(), bush(2)]),
            Tree(vec![leaf(), stalk(bush(1))]),
            Tree(vec![bush(1), bush(1)]),
            stalk(bush(3)),
            stalk(Tree(vec![leaf(), bush(1)])),
            stalk(stalk(bush(2))),
            stalk(stalk(stalk(bush(1)))),
        ];
        let densities: Vec<f64> = trees.iter().map(Tree::density).collect();
        let printed = [1, 2, 3, 6, 4, 8, 12, 24, 5, 10, 15, 30, 20, 20, 40, 60, 120];
        assert_eq!(densities, printed.map(f64::from));
        trees
    }

    fn check(found: (f64, f64), wanted: f64, what: &str) {
        let off = (found.0 - wanted).abs();
        assert!(off <= rounding(found.1), "{what}: {} instead of {wanted}, off by {off:.1e}", found.0);
    }

    const BOTH: [&Tableau; 2] = [&ORDER_8, &ORDER_5];

    #[test]
    fn rows_sum_to_the_nodes_and_the_end_is_the_last_one() {
        for tableau in BOTH {
            let ones = vec![(1.0, 1.0); tableau.a.len()];
            assert_eq!(tableau.c.len(), tableau.a.len());
            for (i, row) in tableau.a.iter().enumerate() {
                check(sum(row, &ones), tableau.c[i], "row sum");
                assert!(row.iter().all(|(j, _)| *j < i), "stage {i} is explicit");
            }
            assert_eq!(tableau.a[tableau.n_stages], tableau.b);
            assert_eq!(tableau.c[tableau.n_stages], 1.0);
        }
    }

    #[test]
    fn every_order_condition_up_to_order_five_is_satisfied() {
        for tableau in BOTH {
            for tree in trees() {
                let what = format!("order {}, {tree:?}", tableau.order);
                check(sum(tableau.b, &tree.weights(tableau)), 1.0 / tree.density(), &what);
            }
        }
    }

    /// Σ bᵢcᵢᵏ = 1/(k + 1) up to the order and not beyond.
    #[test]
    fn quadrature_has_the_order_of_the_method() {
        for tableau in BOTH {
            let quadrature = |k: i32| {
                let powers = tableau.c.iter().map(|c| (c.powi(k), c.powi(k))).collect();
                (sum(tableau.b, &powers), 1.0 / f64::from(k + 1))
            };
            for k in 0..tableau.order {
                let (found, wanted) = quadrature(k);
                check(found, wanted, &format!("order {}, c^{k}", tableau.order));
            }
            let (found, wanted) = quadrature(tableau.order);
            assert!((found.0 - wanted).abs() > 1e-7, "order {} is higher than said", tableau.order);
        }
    }

    /// The difference of two methods vanishes up to the order of the lower one, and not beyond.
    fn check_estimate(tableau: &Tableau, weights: &[(usize, f64)], order: i32) {
        for tree in trees().iter().filter(|t| t.order() <= order) {
            check(sum(weights, &tree.weights(tableau)), 0.0, &format!("estimate of order {order}, {tree:?}"));
        }
        let powers = tableau.c.iter().map(|c| (c.powi(order), c.powi(order))).collect();
        let beyond = sum(weights, &powers).0.abs();
        assert!(beyond > 1e-4, "an estimate of order {order} must see c^{order}: {beyond:.1e}");
    }

    #[test]
    fn error_weights_sum_to_zero_and_have_their_order() {
        check_estimate(&ORDER_8, ORDER_8.error, 5);
        check_estimate(&ORDER_8, ORDER_8.coarse, 3);
        check_estimate(&ORDER_5, ORDER_5.error, 4);
        assert!(ORDER_5.coarse.is_empty());
    }

    /// The widest gap between the nodes of the stages, and no node, dense ones included, in the interval that is stated to be free.
    #[test]
    fn no_stage_lies_in_the_gap() {
        for tableau in BOTH {
            let NodeGap { from, middle, to } = tableau.gap;
            let mut c: Vec<f64> = tableau.c[..tableau.n_stages].to_vec();
            c.sort_by(f64::total_cmp);
            let widest = c.windows(2).max_by(|x, y| (x[1] - x[0]).total_cmp(&(y[1] - y[0]))).unwrap();
            assert!((middle - 0.5 * (widest[0] + widest[1])).abs() < 1e-3, "{middle} in {widest:?}");
            assert!(from < middle && middle < to && widest[0] < from && to < widest[1]);
            assert!(tableau.c.iter().all(|&c| c < from || c > to), "order {}", tableau.order);
        }
    }

    /// bᵢ(θ), the weights of the dense output at θ: what it makes of rates that are 1 at stage i and 0 elsewhere.
    fn dense_weights(tableau: &Tableau, theta: f64) -> Vec<(usize, f64)> {
        let (size, end) = (tableau.a.len(), tableau.n_stages);
        let mut F = vec![0.0; (3 + tableau.dense.len()) * size];
        for &(i, b) in tableau.b {
            (F[i], F[size + i], F[2 * size + i]) = (b, -b, 2.0 * b);
        }
        F[size] += 1.0;
        F[2 * size] -= 1.0;
        F[2 * size + end] -= 1.0;
        for (k, weights) in tableau.dense.iter().enumerate() {
            weights.iter().for_each(|&(i, d)| F[(3 + k) * size + i] = d);
        }
        let step = Step { start: 0.0, end: 1.0, h: 1.0, n: 0, y: vec![0.0; size], F };
        let mut values = vec![0.0; size];
        step.values(theta, &mut values);
        values.into_iter().enumerate().collect()
    }

    /// Σ bᵢ(θ)Φᵢ = θʳ/γ for every tree of order r, and Σ bᵢ(θ)cᵢᵏ = θᵏ⁺¹/(k + 1) for polynomials, up to the order it claims.
    #[test]
    fn dense_output_has_its_order_everywhere() {
        for tableau in BOTH {
            for theta in [0.0, 0.1, 0.37, 0.5, 0.81, 1.0] {
                let b = dense_weights(tableau, theta);
                for tree in trees().iter().filter(|t| t.order() <= dense_order(tableau)) {
                    let wanted = theta.powi(tree.order()) / tree.density();
                    check(sum(&b, &tree.weights(tableau)), wanted, &format!("dense at {theta}, {tree:?}"));
                }
                for k in 0..dense_order(tableau) {
                    let powers = tableau.c.iter().map(|c| (c.powi(k), c.powi(k))).collect();
                    let wanted = theta.powi(k + 1) / f64::from(k + 1);
                    check(sum(&b, &powers), wanted, &format!("dense at {theta}, c^{k}"));
                }
            }
        }
    }
}
