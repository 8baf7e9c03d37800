//! Kernels of random instructions: the rows of the instruction table, and whatever the tests' own PTX contains, with other registers and
//! mostly with addresses that exist.

use std::collections::BTreeSet;

use alu::{Kind, TABLE, spellings};
use proptest::prelude::*;
use simt::Module;

/// A kernel: for each line, which instruction it is, and a number that chooses its registers and addresses.
pub type Kernel = Vec<(usize, u64)>;

/// Generates any kernel of a number of different instructions.
pub fn kernel(instructions: usize) -> impl Strategy<Value = Kernel> {
    prop::collection::vec((0..instructions, any::<u64>()), 1..30)
}

const HEAD: &str = "
.version 8.7
.target sm_100
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.extern .shared .align 16 .b8 dynamic[];
.global .align 16 .b8 variable[256] = {72, 105, 32, 37, 100, 32, 37, 102, 32, 37, 115, 10};
.const .align 16 .b8 constant[64];
.func (.param .b32 result) callee(.param .b32 a) {
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [a];
    add.s32 %r2, %r1, 1;
    st.param.b32 [result], %r2;
    ret;
}
.extern .func (.param .b64 result) malloc(.param .b64 bytes);
.extern .func free(.param .b64 pointer);
.func (.param .b32 result) recursive(.param .b32 a) {
    .reg .b32 %r<5>;
    .reg .pred %p<2>;
    .local .align 8 .b8 own[24];
    ld.param.b32 %r1, [a];
    st.local.u32 [own+8], %r1;
    setp.lt.s32 %p1, %r1, 1;
    mov.u32 %r4, 0;
    @%p1 bra $end;
    shr.u32 %r2, %r1, 1;
    { .param .b32 a0; .param .b32 r0; st.param.b32 [a0+0], %r2; call.uni (r0), recursive, (a0); ld.param.b32 %r3, [r0+0]; }
    ld.local.u32 %r4, [own+8];
    add.s32 %r4, %r4, %r3;
$end:
    st.param.b32 [result], %r4;
    ret;
}
.visible .entry kernel(.param .b64 buffer, .param .b64 other) {
    .reg .pred %p<8>;
    .reg .b16 %rs<8>;
    .reg .b32 %r<8>;
    .reg .f32 %f<8>;
    .reg .b64 %rd<8>;
    .reg .f64 %fd<8>;
    .reg .b128 %q<8>;
    .shared .align 16 .b8 tile[512];
    .local .align 16 .b8 private[64];
";

/// Code that gives the registers values. Some are addresses, or numbers that are special in floats.
const START: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, tile;
    mov.u32 %r2, %laneid;
    mov.b32 %r3, 0xff800001;
    ld.param.b64 %rd0, [buffer];
    mad.wide.u32 %rd1, %r0, 4, %rd0;
    cvta.shared.u64 %rd2, %rd2;
    mov.b64 %rd3, 0x7ff0000000000000;
    mov.f32 %f0, 0f3f800000;
    mov.f32 %f1, 0f00000001;
    setp.lt.u32 %p0, %r0, 7;
    setp.ge.u32 %p1, %r2, 0;
";

/// Instructions that no row of the table has. The tests' PTX has them seldom or not at all.
const MORE: &[&str] = &[
    "bra $L;",
    "bra.uni $L;",
    "exit;",
    "ret;",
    "trap;",
    "{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0+0], %r1; call.uni (r0), recursive, (a0); ld.param.b32 %r1, [r0+0]; }",
    "{ .param .b64 a0; .param .b64 r0; st.param.b64 [a0+0], 24; call.uni (r0), malloc, (a0); ld.param.b64 %rd1, [r0+0]; }",
    "{ .param .b64 a0; .param .b64 r0; st.param.b64 [a0+0], %rd1; call.uni (r0), malloc, (a0); ld.param.b64 %rd1, [r0+0]; }",
    "{ .param .b64 a0; st.param.b64 [a0+0], %rd1; call.uni free, (a0); }",
    "{ .param .b32 a0; .param .b32 r0; .reg .b64 %x; mov.b64 %x, recursive; st.param.b32 [a0+0], %r1; all: .callprototype (.param .b32 _) _ (.param .b32 _); call (r0), %x, (a0), all; ld.param.b32 %r1, [r0+0]; }",
    "atom.global.exch.b128 %q1, [A], %q1;",
    "atom.shared.cas.b128 %q1, [A], %q1, %q1;",
    "atom.global.v4.f32.add {%f1, %f1, %f1, %f1}, [A], {%f1, %f1, %f1, %f1};",
    "red.global.max.noftz.v4.bf16x2 [A], {%r1, %r1, %r1, %r1};",
    "mbarrier.pending_count.b64 %r1, %rd1;",
    "mbarrier.complete_tx.shared.b64 [tile+64], %r1;",
    "bar.sync 0;",
    "bar.sync %r1, 64;",
    "bar.arrive 1, 64;",
    "barrier.sync.aligned 2;",
    "bar.red.popc.u32 %r1, 0, %p1;",
    "bar.warp.sync %r1;",
    "membar.gl;",
    "fence.acq_rel.gpu;",
    "{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0+0], %r1; call.uni (r0), callee, (a0); ld.param.b32 %r1, [r0+0]; }",
    "{ .param .b64 a0; .param .b64 a1; .param .b32 r0; st.param.b64 [a0+0], %rd1; st.param.b64 [a1+0], %rd1; call (r0), vprintf, (a0, a1); }",
    "shfl.sync.idx.b32 %r1|%p1, %r1, %r1, 31, -1;",
    "shfl.sync.bfly.b32 %r1, %r1, %r1, %r1, %r1;",
    "shfl.sync.up.b32 %r1, %f1, 1, 0, -1;",
    "vote.sync.ballot.b32 %r1, %p1, -1;",
    "vote.sync.any.pred %p1, !%p1, %r1;",
    "match.any.sync.b32 %r1, %r1, -1;",
    "match.all.sync.b64 %r1|%p1, %rd1, %r1;",
    "redux.sync.add.s32 %r1, %r1, -1;",
    "redux.sync.xor.b32 %r1, %r1, %r1;",
    "elect.sync %r1|%p1, -1;",
    "activemask.b32 %r1;",
    "atom.global.add.u32 %r1, [A], %r1;",
    "atom.global.cas.b16 %rs1, [A], %rs1, %rs1;",
    "atom.global.cas.b64 %rd1, [A], %rd1, %rd1;",
    "atom.shared.exch.b32 %r1, [A], %r1;",
    "atom.shared.add.f64 %fd1, [A], %fd1;",
    "atom.add.noftz.bf16x2 %r1, [A], %r1;",
    "red.global.max.s32 [A], %r1;",
    "red.shared.inc.u32 [A], %r1;",
    "ld.global.v4.f32 {%f1, %f1, %f1, %f1}, [A];",
    "ld.global.v2.b64 {%rd1, %rd1}, [A];",
    "ld.global.v8.b32 {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1}, [A];",
    "st.global.v4.b64 [A], {%rd1, %rd1, %rd1, %rd1};",
    "ld.shared.v4.u8 {%rs1, %rs1, %rs1, %rs1}, [A];",
    "ld.shared.v2.s16 {%rs1, _}, [A];",
    "ld.v2.u64 {%rd1, %rd1}, [A];",
    "ld.const.u32 %r1, [constant+16];",
    "ld.const.u8 %rs1, [%rd1];",
    "ld.volatile.shared.s8 %r1, [A];",
    "ld.acquire.gpu.global.u32 %r1, [A];",
    "ld.local.u64 %rd1, [private+8];",
    "ld.local.u8 %r1, [%rd1];",
    "st.local.v4.u32 [private+16], {%r1, %r1, %r1, %r1};",
    "st.shared.v2.f64 [A], {%fd1, %fd1};",
    "st.release.gpu.global.u32 [A], %r1;",
    "st.global.u8 [A], %r1;",
    "st.u16 [A], %rs1;",
    "cvta.local.u64 %rd1, %rd1;",
    "cvta.to.shared.u64 %rd1, %rd1;",
    "isspacep.shared %p1, %rd1;",
    "prefetch.global.L2 [A];",
    "cp.async.ca.shared.global [tile+16], [%rd0+32], 16;",
    "cp.async.ca.shared.global [tile+16], [%rd0+32], 4, %r1;",
    "cp.async.commit_group;",
    "cp.async.wait_group 1;",
    "cp.async.wait_all;",
    "mbarrier.init.shared.b64 [A], %r1;",
    "mbarrier.init.shared.b64 [tile+64], 80;",
    "mbarrier.inval.shared.b64 [tile+64];",
    "mbarrier.arrive.shared.b64 %rd1, [tile+64];",
    "mbarrier.arrive.noComplete.shared.b64 %rd1, [tile+64], %r1;",
    "mbarrier.arrive_drop.shared.b64 %rd1, [tile+64];",
    "mbarrier.arrive.expect_tx.shared.b64 %rd1, [tile+64], %r1;",
    "mbarrier.test_wait.shared.b64 %p1, [tile+64], %rd1;",
    "mbarrier.try_wait.parity.shared.b64 %p1, [tile+64], %r1;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+128], [%rd0], %r1, [tile+64];",
    "cp.async.mbarrier.arrive.shared.b64 [tile+64];",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r1, %r1, %r1}, [A];",
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r1}, [A];",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [A], {%r1};",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r1;",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f1,%f1,%f1}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%f1,%f1,%f1,%f1};",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f1,%f1,%f1}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%f1,%f1,%f1,%f1};",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%r1,%r1,%r1,%r1}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r1,%r1,%r1,%r1};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1,%fd1}, {%fd1}, {%fd1}, {%fd1,%fd1};",
    "tex.2d.v4.f32.s32 {%f1, %f1, %f1, %f1}, [%rd1, {%r1, %r1}];",
    "tex.1d.v4.s32.f32 {%r1, %r1, %r1, %r1}, [%rd1, {%f1}];",
    "suld.b.2d.b32.trap %r1, [%rd1, {%r1, %r1}];",
    "sust.b.1d.b32.clamp [%rd1, {%r1}], %r1;",
    "txq.width.b32 %r1, [%rd1];",
    "mov.u64 %rd1, %clock64;",
    "mov.u64 %rd1, variable;",
    "mov.u32 %r1, %dynamic_smem_size;",
    "nanosleep.u32 %r1;",
    "add.cc.u32 %r1, %r1, %r1;",
    "madc.hi.cc.s64 %rd1, %rd1, %rd1, %rd1;",
    "addc.u64 %rd1, %rd1, %rd1;",
    "set.lt.and.f32.s32 %f1, %r1, %r1, %p1;",
    "setp.gtu.xor.f32 %p1|%p1, %f1, %f1, %p1;",
    "lop3.or.b32 %r1|%p1, %r1, %r1, %r1, 0x9e, %p1;",
    "vadd4.s32.u32.s32.sat %r1, %r1, %r1, %r1;",
];

/// Instructions that load.
pub struct Instructions(Vec<String>);

impl Instructions {
    /// Collects the table's rows, these texts' instructions, and more.
    pub fn new(texts: &[&str]) -> Self {
        let of_table = TABLE.iter().flat_map(|row| spellings(row.spelling).into_iter().map(move |spelling| (row, spelling)));
        let of_table = of_table.flat_map(|(row, spelling)| {
            // Some take 16 bits where most take 32.
            ["%r1", "%rs1", "%f1"].map(|word| {
                let operands: Vec<&str> = [row.destination].iter().chain(row.sources).map(|kind| register(*kind, word)).collect();
                format!("{spelling} {};", operands.join(", "))
            })
        });
        let of_texts = texts.iter().flat_map(|text| text.lines()).map(str::trim).filter(|line| line.ends_with(';'));
        let of_texts = of_texts.filter(|line| !line.starts_with(['.', '{', '}'])).map(with_same_names);
        let more = MORE.iter().map(|line| (*line).to_owned());
        let different: BTreeSet<String> = of_table.chain(of_texts).chain(more).collect();
        let all = Self(different.into_iter().collect());
        let loading = (0..all.len()).filter(|index| Module::parse(&all.text(&vec![(*index, 0)])).is_ok());
        Self(loading.map(|index| all.0[index].clone()).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the text of a kernel.
    pub fn text(&self, kernel: &Kernel) -> String {
        let mut text = format!("{HEAD}{START}");
        for (at, (index, choice)) in kernel.iter().enumerate() {
            if at % 4 == 0 {
                text += &format!("$L{}:\n", at / 4);
            }
            let mut choices = Choices(*choice);
            let guard = ["", "", "", "", "", "@%p0 ", "@!%p0 ", "@%p5 "][choices.below(8)];
            let line = self.chosen(&self.0[*index], &mut choices, kernel.len().div_ceil(4));
            let guard = if line.starts_with('{') { "" } else { guard };
            text += &format!("    {guard}{line}\n");
        }
        text + "    ret;\n}\n"
    }

    /// Returns the instruction with registers, an address, and a label by choice.
    fn chosen(&self, line: &str, choices: &mut Choices, labels: usize) -> String {
        let address = match choices.below(8) {
            0 => "[%rd5]".to_owned(),
            1 => "[%rd0+4095]".to_owned(),
            2 if line.contains("shared") => "[%r6+8]".to_owned(),
            _ if line.contains("shared") => format!("[tile+{}]", 16 * choices.below(32)),
            3 => "[%rd1+-16]".to_owned(),
            _ => format!("[%rd0+{}]", 16 * choices.below(255)),
        };
        let line = line.replace("[A]", &address).replace("$L", &format!("$L{}", choices.below(labels as u64)));
        let mut text = String::new();
        let mut rest = line.as_str();
        while let Some(at) = rest.find('%') {
            let name_end = rest[at + 1..].find(|c: char| !c.is_ascii_lowercase()).map_or(rest.len(), |end| at + 1 + end);
            text += &rest[..name_end];
            let number_end = rest[name_end..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| name_end + end);
            let is_register = FAMILIES.contains(&&rest[at..name_end]) && number_end > name_end;
            // The first two registers for addresses mostly stay what they are.
            let kept = matches!(&rest[at..number_end], "%rd0" | "%r6");
            match is_register && !kept {
                true => text += &choices.below(8).to_string(),
                false => text += &rest[name_end..number_end],
            }
            rest = &rest[number_end..];
        }
        text + rest
    }
}

/// The families of registers.
const FAMILIES: [&str; 7] = ["%p", "%rs", "%r", "%f", "%rd", "%fd", "%q"];

fn register(kind: Kind, word: &'static str) -> &'static str {
    match kind {
        Kind::Predicate => "%p1",
        Kind::Double => "%rd1",
        _ => word,
    }
}

/// Returns the instruction without its guard, with common names. These are the first register of each family, `[A]`, and `$L`.
fn with_same_names(line: &str) -> String {
    let line = line.strip_prefix('@').and_then(|line| line.split_once(char::is_whitespace)).map_or(line, |(_, rest)| rest.trim());
    let mut line = line.to_owned();
    if let (Some(from), Some(to)) = (line.find('['), line.find(']'))
        && from < to
        && !line[from..to].contains(',')
        && !line.contains(".param")
    {
        line.replace_range(from..=to, "[A]");
    }
    let mut text = String::new();
    let mut digits_are_a_number = false;
    for c in line.chars() {
        // Digits after a family's name; all others stay.
        let family = text.rfind('%').map(|at| &text[at..]).filter(|name| FAMILIES.contains(name));
        match c {
            '0'..='9' if family.is_some() => {
                text.push('1');
                digits_are_a_number = true;
            }
            '0'..='9' if digits_are_a_number => {}
            _ => {
                text.push(c);
                digits_are_a_number = false;
            }
        }
    }
    match text.split_once('$') {
        Some((before, _)) => format!("{before}$L;"),
        None => text,
    }
}

/// Small numbers, one after the other, from one large number.
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: u64) -> usize {
        // The multiplier of a well-known generator (Knuth's MMIX).
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit) as usize
    }
}

#[test]
fn most_instructions_load() {
    let instructions = Instructions::new(super::TEXTS);
    let refused: Vec<&&str> = MORE.iter().filter(|line| !instructions.0.iter().any(|other| other == *line)).collect();
    println!("{} instructions", instructions.len());
    assert!(refused.is_empty(), "{refused:#?}");
    for row in TABLE {
        let plain = spellings(row.spelling).into_iter().filter(|spelling| !spelling.contains(' ')).collect::<Vec<_>>();
        let loads = plain.iter().any(|spelling| instructions.0.iter().any(|line| line.split(' ').next() == Some(spelling)));
        if !loads && !plain.is_empty() {
            println!("no spelling loads in this form: {}", row.spelling);
        }
    }
}
