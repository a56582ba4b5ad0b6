//! Coefficients and constants of the algorithms.
//!
//! The polynomials interpolate their function at the Chebyshev nodes of their interval, with enough terms
//! for an error below 1/16 ulp. The other numbers are mathematical constants, some as an unevaluated sum
//! of parts.

/// The numbers for one format. Coefficients of polynomials are in ascending order.
pub(crate) trait Coefficients: Sized + 'static {
    /// (e^r - 1 - r) / r^2.
    const EXP: &'static [Self];
    /// (2^r - 1 - r ln 2) / r^2.
    const EXP2: &'static [Self];
    /// (2 atanh(s) / s - 2) / s^2, in s^2.
    const LN: &'static [Self];
    /// ((2 atanh(s) / s - 2) / s^2 - 2/3) / s^2, in s^2.
    const POW: &'static [Self];
    /// (sin(r) - r) / r^3 for r = 0.
    const SIN_FIRST: Self;
    /// ((sin(r) - r) / r^3 + 1/6) / r^2, in r^2.
    const SIN: &'static [Self];
    /// (cos(r) - 1 + r^2 / 2) / r^4, in r^2.
    const COS: &'static [Self];
    /// (asin(x) - x) / x^3 up to 1/2, in x^2.
    const ASIN: &'static [Self];
    /// (atan(x) - x) / x^3 up to 7/16, in x^2.
    const ATAN: &'static [Self];
    /// (sinh(x) - x) / x^3 up to 1, in x^2.
    const SINH: &'static [Self];
    /// (tanh(x) - x) / x^3 up to 0.55, in x^2.
    const TANH: &'static [Self];
    /// ln 2; integer multiples of the first part, up to 2^11 or 2^8, are exact.
    const LN2: [Self; 2];
    /// ln 2; the first part is the nearest number.
    const LN2_NEAREST: [Self; 2];
    /// log10 2, parts as of [`Self::LN2`].
    const LOG10_2: [Self; 2];
    /// 1 / ln 2; the product of the first part and a number of half the bits is exact.
    const INV_LN2: [Self; 2];
    /// 1 / ln 10, parts as of [`Self::INV_LN2`].
    const INV_LN10: [Self; 2];
    /// 2/3; the first part is the nearest number, as in all pairs below.
    const TWO_THIRDS: [Self; 2];
    /// pi / 2.
    const HALF_PI: [Self; 2];
    /// pi / 4.
    const QUARTER_PI: [Self; 2];
    /// pi.
    const PI: [Self; 2];
    /// atan(1/2).
    const ATAN_HALF: [Self; 2];
    /// atan(3/2).
    const ATAN_3_2: [Self; 2];
    /// pi / 2; integer multiples of all parts but the last, up to 2^20 or 2^11, are exact.
    const HALF_PI_PARTS: [Self; 4];
    /// 1 / ln 2.
    const LOG2_E: Self;
    /// 2 / pi.
    const FRAC_2_PI: Self;
    /// Where `exp` is 0, and where it is infinite even halved, near the first such number.
    const EXP_RANGE: [Self; 2];
    /// Where `exp2` is 0 and where it is infinite.
    const EXP2_RANGE: [Self; 2];
    /// Where `exp_m1` is -1, and a number where it is infinite, near the first.
    const EXP_M1_RANGE: [Self; 2];
    /// Below it x + x^2 rounds to x.
    const TINY: Self;
    /// Up to it the parts of pi / 2 reduce angles.
    const REDUCIBLE: Self;
    /// Steps of third order that take a cube root from 5 bits to half the significand.
    const CBRT_STEPS: u32;
}

impl Coefficients for f32 {
    const EXP: &'static [Self] =
        &[5.0e-1, 1.6666667e-1, 4.1666456e-2, 8.3333105e-3, 1.3934541e-3, 1.989198e-4];
    const EXP2: &'static [Self] =
        &[2.402265e-1, 5.550411e-2, 9.618082e-3, 1.3333522e-3, 1.5453361e-4, 1.5291102e-5];
    const LN: &'static [Self] = &[6.666667e-1, 4.0000123e-1, 2.8550735e-1, 2.3332763e-1];
    const POW: &'static [Self] = &[4.0e-1, 2.857153e-1, 2.2204694e-1, 1.9122304e-1];
    const SIN_FIRST: Self = -1.6666667e-1;
    const SIN: &'static [Self] = &[8.333332e-3, -1.9840077e-4, 2.7248702e-6];
    const COS: &'static [Self] = &[4.1666664e-2, -1.3888298e-3, 2.4546931e-5];
    const ASIN: &'static [Self] =
        &[1.6666666e-1, 7.500095e-2, 4.459932e-2, 3.1101728e-2, 1.7143717e-2, 3.3700727e-2];
    const ATAN: &'static [Self] =
        &[-3.3333334e-1, 1.9999963e-1, -1.4283392e-1, 1.10580906e-1, -8.531211e-2, 4.8201866e-2];
    const SINH: &'static [Self] = &[1.6666667e-1, 8.333339e-3, 1.9838102e-4, 2.8062802e-6];
    const TANH: &'static [Self] =
        &[-3.3333334e-1, 1.3333324e-1, -5.3964682e-2, 2.1818265e-2, -8.525559e-3, 2.5252576e-3];
    const LN2: [Self; 2] = [6.9314575e-1, 1.4286068e-6];
    const LN2_NEAREST: [Self; 2] = [core::f32::consts::LN_2, -1.9046542e-9];
    const LOG10_2: [Self; 2] = [3.010254e-1, 4.605039e-6];
    const INV_LN2: [Self; 2] = [1.4423828, 3.122284e-4];
    const INV_LN10: [Self; 2] = [4.342041e-1, 9.038034e-5];
    const TWO_THIRDS: [Self; 2] = [6.666667e-1, -1.9868216e-8];
    const HALF_PI: [Self; 2] = [core::f32::consts::FRAC_PI_2, -4.371139e-8];
    const QUARTER_PI: [Self; 2] = [core::f32::consts::FRAC_PI_4, -2.1855694e-8];
    const PI: [Self; 2] = [core::f32::consts::PI, -8.742278e-8];
    const ATAN_HALF: [Self; 2] = [4.636476e-1, 5.0121587e-9];
    const ATAN_3_2: [Self; 2] = [9.8279375e-1, -2.5131424e-8];
    const HALF_PI_PARTS: [Self; 4] = [1.5703125, 4.837513e-4, 7.5495336e-8, 2.563344e-12];
    const LOG2_E: Self = core::f32::consts::LOG2_E;
    const FRAC_2_PI: Self = core::f32::consts::FRAC_2_PI;
    const EXP_RANGE: [Self; 2] = [-110.0, 89.45];
    const EXP2_RANGE: [Self; 2] = [-160.0, 130.0];
    const EXP_M1_RANGE: [Self; 2] = [-50.0, 89.0];
    const TINY: Self = 1.0e-8;
    const REDUCIBLE: Self = 3000.0;
    const CBRT_STEPS: u32 = 1;
}

impl Coefficients for f64 {
    const EXP: &'static [Self] = &[
        0.5,
        0.1666666666666667,
        0.04166666666666667,
        0.008333333333325544,
        0.0013888888888883327,
        0.00019841269876864356,
        2.4801587327007187e-5,
        2.755725283351691e-6,
        2.75572718102198e-7,
        2.5106274733573296e-8,
        2.0915442297780116e-9,
    ];
    const EXP2: &'static [Self] = &[
        0.24022650695910072,
        0.0555041086648216,
        0.009618129107628479,
        0.001333355814641675,
        0.00015403530393375822,
        1.5252733830147138e-5,
        1.3215486803057882e-6,
        1.0178062256646543e-7,
        7.054899862722409e-9,
        4.4549983631048684e-10,
        2.5725267506017277e-11,
    ];
    const LN: &'static [Self] = &[
        0.6666666666666666,
        0.4000000000000089,
        0.28571428570795937,
        0.2222222239345263,
        0.181817954545265,
        0.15386249788196105,
        0.1326850331279476,
        0.13089445145246312,
    ];
    const POW: &'static [Self] = &[
        0.4,
        0.28571428571429375,
        0.22222222221649277,
        0.18181818336889324,
        0.15384594802772,
        0.13334813373687013,
        0.11706004128016817,
        0.11725604536475413,
    ];
    const SIN_FIRST: Self = -0.16666666666666666;
    const SIN: &'static [Self] = &[
        0.008333333333333331,
        -0.00019841269841264968,
        2.755731921926441e-6,
        -2.5052106206531682e-8,
        1.605852751943773e-10,
        -7.586455940017973e-13,
    ];
    const COS: &'static [Self] = &[
        0.041666666666666664,
        -0.0013888888888887367,
        2.480158729872029e-5,
        -2.7557317248229367e-7,
        2.0876141380294955e-9,
        -1.1382280957702634e-11,
    ];
    const ASIN: &'static [Self] = &[
        0.16666666666666666,
        0.07500000000000119,
        0.04464285714255019,
        0.030381944475693704,
        0.022372157435623815,
        0.017352816768546473,
        0.013963775787848137,
        0.011566511821890942,
        0.009621402747344831,
        0.009322101501082774,
        0.0030350071727267636,
        0.019579201619744684,
        -0.019277545928584553,
        0.029635026263548546,
    ];
    const ATAN: &'static [Self] = &[
        -0.3333333333333333,
        0.19999999999999404,
        -0.14285714285565465,
        0.111111110965279,
        -0.09090908350382436,
        0.07692285419714515,
        -0.06666239748865294,
        0.05876924062763387,
        -0.05216532007308444,
        0.044916556747777434,
        -0.033114228762660534,
        0.014759380407779157,
    ];
    const SINH: &'static [Self] = &[
        0.16666666666666666,
        0.008333333333333299,
        0.00019841269841324198,
        2.7557319191381816e-6,
        2.5052117695907823e-8,
        1.6057679623801638e-10,
        7.746178593018827e-13,
    ];
    const TANH: &'static [Self] = &[
        -0.3333333333333333,
        0.13333333333332706,
        -0.05396825396742482,
        0.0218694884932473,
        -0.00886323438814135,
        0.0035921102512218436,
        -0.0014556608117307446,
        0.0005889310348163347,
        -0.00023461985208596874,
        8.508874536741759e-5,
        -2.058582707429241e-5,
    ];
    const LN2: [Self; 2] = [0.6931471805592082, 7.371002565167799e-13];
    const LN2_NEAREST: [Self; 2] = [core::f64::consts::LN_2, 2.3190468138462996e-17];
    const LOG10_2: [Self; 2] = [0.30102999566361177, 3.694239077158931e-13];
    const INV_LN2: [Self; 2] = [1.4426950216293335, 1.9259629911266175e-8];
    const INV_LN10: [Self; 2] = [0.4342944771051407, 4.798111141615973e-9];
    const TWO_THIRDS: [Self; 2] = [0.6666666666666666, 3.700743415417188e-17];
    const HALF_PI: [Self; 2] = [core::f64::consts::FRAC_PI_2, 6.123233995736766e-17];
    const QUARTER_PI: [Self; 2] = [core::f64::consts::FRAC_PI_4, 3.061616997868383e-17];
    const PI: [Self; 2] = [core::f64::consts::PI, 1.2246467991473532e-16];
    const ATAN_HALF: [Self; 2] = [0.4636476090008061, 2.2698777452961687e-17];
    const ATAN_3_2: [Self; 2] = [0.982793723247329, 1.3903311031230998e-17];
    const HALF_PI_PARTS: [Self; 4] =
        [1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32];
    const LOG2_E: Self = core::f64::consts::LOG2_E;
    const FRAC_2_PI: Self = core::f64::consts::FRAC_2_PI;
    const EXP_RANGE: [Self; 2] = [-760.0, 710.48];
    const EXP2_RANGE: [Self; 2] = [-1080.0, 1030.0];
    const EXP_M1_RANGE: [Self; 2] = [-50.0, 710.0];
    const TINY: Self = 1.0e-17;
    const REDUCIBLE: Self = 1.6e6;
    const CBRT_STEPS: u32 = 2;
}

/// The binary digits of 2 / pi after 64 zeros, 32 to a word.
pub(crate) const TWO_OVER_PI: [u32; 64] = [
    0,
    0,
    0xa2f9_836e,
    0x4e44_1529,
    0xfc27_57d1,
    0xf534_ddc0,
    0xdb62_9599,
    0x3c43_9041,
    0xfe51_63ab,
    0xdebb_c561,
    0xb724_6e3a,
    0x424d_d2e0,
    0x0649_2eea,
    0x09d1_921c,
    0xfe1d_eb1c,
    0xb129_a73e,
    0xe882_35f5,
    0x2ebb_4484,
    0xe99c_7026,
    0xb45f_7e41,
    0x3991_d639,
    0x8353_39f4,
    0x9c84_5f8b,
    0xbdf9_283b,
    0x1ff8_97ff,
    0xde05_980f,
    0xef2f_118b,
    0x5a0a_6d1f,
    0x6d36_7ecf,
    0x27cb_09b7,
    0x4f46_3f66,
    0x9e5f_ea2d,
    0x7527_bac7,
    0xebe5_f17b,
    0x3d07_39f7,
    0x8a52_92ea,
    0x6bfb_5fb1,
    0x1f8d_5d08,
    0x5603_3046,
    0xfc7b_6bab,
    0xf0cf_bc20,
    0x9af4_361d,
    0xa9e3_9161,
    0x5ee6_1b08,
    0x6599_855f,
    0x14a0_6840,
    0x8dff_d880,
    0x4d73_2731,
    0x0606_1556,
    0xca73_a8c9,
    0x60e2_7bc0,
    0x8c6b_47c4,
    0x19c3_67cd,
    0xdce8_092a,
    0x8359_c476,
    0x8b96_1ca6,
    0xddaf_44d1,
    0x5719_053e,
    0xa5ff_0705,
    0x3f7e_33e8,
    0x32c2_de4f,
    0x9832_7dbb,
    0xc33d_26ef,
    0x6b1e_5ef8,
];
