//! The kinds of mistake.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Defines [`Operator`] with its texts, so that each is listed once.
macro_rules! operators {
    ($($(#[$doc:meta])* $variant:ident: $name:literal, $changes:literal, $example:literal, $reason:literal;)*) => {
        /// A kind of mistake.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Operator {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Operator {
            /// Every operator.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name, as people write it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Returns the change in words.
            pub fn changes(self) -> &'static str {
                match self { $(Self::$variant => $changes),* }
            }

            /// An instruction before and after.
            pub fn example(self) -> &'static str {
                match self { $(Self::$variant => $example),* }
            }

            /// Why a test should notice.
            pub fn reason(self) -> &'static str {
                match self { $(Self::$variant => $reason),* }
            }
        }
    };
}

operators! {
    /// `bar.sync` and its like.
    RemoveBarrier: "remove-barrier", "a barrier of a block or a warp is removed", "`bar.sync 0;` is removed",
        "threads read what others have not written yet";
    /// `fence`, `membar`, `wgmma.fence`.
    RemoveFence: "remove-fence", "a fence is removed", "`membar.gl;` is removed",
        "others may see writes in another order";
    /// Waits for copies, phases, products and clusters.
    RemoveWait: "remove-wait", "a wait for asynchronous work is removed, or says at once that the work is done",
        "`cp.async.wait_all;` is removed", "data is used before it is there";
    /// Arrivals and commits.
    RemoveArrive: "remove-arrive", "an arrival or a commit is removed", "`cp.async.commit_group;` is removed",
        "a wait covers too little, or never ends";
    /// Atomic operations.
    PlainAtomic: "plain-atomic", "an atomic operation becomes a load, an operation and a store",
        "`red.global.add.u32 [%rd1], 1;` becomes `ld`, `add`, `st`", "updates are lost";
    /// Guards and conditional branches.
    RemoveGuard: "remove-guard", "a conditional branch is never taken; another guarded instruction is always executed",
        "`@%p1 bra $done;` is never taken", "threads beyond the end do what only others should";
    /// `<` and `<=`.
    ChangeBound: "change-bound", "a comparison includes its bound, or no longer does", "`setp.lt.s32` becomes `setp.le.s32`",
        "one element too many, or one too few";
    /// `<` and `>=`.
    NegateComparison: "negate-comparison", "a comparison is negated", "`setp.lt.s32` becomes `setp.ge.s32`",
        "the other path is taken";
    /// Predicates joined by `and` and `or`.
    SwapLogic: "swap-logic", "`and` becomes `or` between predicates, and the reverse", "`and.pred` becomes `or.pred`",
        "a condition of several parts holds in other cases";
    /// Sums and differences.
    SwapArithmetic: "swap-arithmetic", "a sum becomes a difference, and the reverse; also in multiply-adds",
        "`add.s32` becomes `sub.s32`", "indices and results are wrong";
    /// Signs.
    FlipSign: "flip-sign", "a sign is changed: a product is negated, a negation or an absolute value is left out",
        "`neg.f32` becomes `mov.f32`", "results have the wrong sign";
    /// Minima and maxima.
    SwapMinMax: "swap-min-max", "a minimum becomes a maximum, and the reverse", "`min.s32` becomes `max.s32`",
        "values are clamped to the wrong side";
    /// Constants.
    ChangeConstant: "change-constant", "a constant is one larger or one smaller", "`shl.b32 %r2, %r1, 4;` shifts by 5",
        "sizes, strides and first values are wrong";
    /// Addresses.
    ShiftIndex: "shift-index", "a load or a store accesses the next element", "`ld.global.f32 %f1, [%rd1];` loads `[%rd1+4]`",
        "an index is off by one";
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Operator {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|operator| operator.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|operator| operator.name()).collect();
            format!("no operator is called {name}; there are {}", names.join(", "))
        })
    }
}
