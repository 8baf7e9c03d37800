//! Asynchronous products of four warps: `wgmma`.
//!
//! A GPU computes a product at some time between its start and the end of the wait for it. Here each warp computes its 16 rows at the wait,
//! the latest moment, and reads shared memory and the registers of A then. Until then the registers of D hold a pattern that no
//! program mistakes for its data.
//!
//! A wait ends for the warps of a warpgroup together. PTX ISA 9.0: `wgmma.commit_group` "creates a new wgmma-group per warpgroup", and
//! `wgmma.wait_group` waits until such groups "are complete". So one warp may tell whoever overwrites the factors that all four
//! have read them. On an H200, if one warp is a million clocks late before its fence, its product or its commit, the waits of all four end after
//! a million clocks; one that is late before its wait holds up nobody.

use super::core::Core;
use super::descriptor::{Descriptor, GROUP, UNIT, UNITS_OF_K};
use super::machine::Stop;
use super::products::{Agreed, Product, WARPS, are_in_order, collide, slots};
use super::request::{Pattern, Request};
use super::tensor;
use super::watch::found::{Defect, WgmmaDefect};
use alu::registers::{FULL, LANES, Registers};
use ptx::finding::wgmma::{DescriptorDefect, WgmmaMisuse};
use ptx::finding::{AccessOp, FindingKind};
use ptx::program::fragment::{Fragment, Number, Part};
use ptx::program::{FactorA, ROWS_OF_WARP, Semantics, Wgmma, WgmmaStep};

/// The contents of an accumulator while its product is unfinished: a NaN in every width of float.
const UNFINISHED: u32 = 0x7fff_7fff;

/// Executes a step of a whole warp. Returns the number of groups that the other warps of its warpgroup have to wait for before it goes on.
pub fn execute(core: &mut Core<'_>, registers: &mut Registers, step: WgmmaStep, pc: u32) -> Result<Option<u32>, Stop> {
    match step {
        WgmmaStep::Start(index) => start(core, registers, index, pc)?,
        WgmmaStep::Fence => {
            let of_warp = &mut core.products.by_warp[core.warp as usize];
            of_warp.has_fenced = true;
            of_warp.named.fill(0);
            of_warp.written.fill(0);
        }
        WgmmaStep::Commit => core.products.by_warp[core.warp as usize].groups += 1,
        WgmmaStep::Wait { pending } => {
            let of_warp = &core.products.by_warp[core.warp as usize];
            let first_kept = of_warp.groups.saturating_sub(pending);
            let finished = of_warp.unfinished.iter().take_while(|product| product.group < first_kept).count();
            finish(core, registers, finished);
            if finished > 0 {
                core.products.by_warp[core.warp as usize].finished = first_kept;
                core.check(|watch, warp| watch.order.end_products(warp));
                let first = core.first_warp + (core.warp - core.first_warp) / WARPS * WARPS;
                let group = first..first + WARPS;
                if group.clone().any(|warp| core.products.by_warp[warp as usize].finished < first_kept) {
                    return Ok(Some(first_kept));
                }
                core.check(|watch, _| watch.order.share_products(group));
            }
        }
    }
    Ok(None)
}

/// Starts a product.
fn start(core: &mut Core<'_>, registers: &mut Registers, index: u32, pc: u32) -> Result<(), Stop> {
    let machine = core.machine;
    let wgmma = &machine.program.wgmmas[index as usize];
    let (warp, in_block) = (core.warp, core.warp - core.first_warp);
    let threads = machine.config.block.volume();
    if u64::from(in_block / WARPS + 1) * u64::from(WARPS) * LANES as u64 > threads {
        return Err(misuse(core, WgmmaMisuse::NoWarpgroup { threads }, pc));
    }
    let first = (in_block % WARPS) as usize * ROWS_OF_WARP;
    let of_a = match wgmma.a {
        FactorA::Registers(_) => None,
        FactorA::Shared(descriptor) => Some(*registers.doubles(descriptor)),
    };
    let of_b = *registers.doubles(wgmma.b);
    let mut units = Vec::new();
    if let Some(of_a) = &of_a {
        units = matrix_units(core, of_a, first, ROWS_OF_WARP, wgmma.transposes_a, pc)?;
    }
    let first_of_b = units.len();
    units.extend(matrix_units(core, &of_b, 0, wgmma.shape.n, wgmma.transposes_b, pc)?);
    core.read_units(&units, pc)?;
    let adds = registers.predicate(wgmma.adds) & 1 != 0;
    if core.products.are_watched {
        core.watch_start(Agreed { pc, warp: in_block, descriptors: [of_a.map(|lanes| lanes[0]), Some(of_b[0])], adds }, index);
    }

    let of = |product: &Product| &machine.program.wgmmas[product.index as usize];
    let of_warp = &core.products.by_warp[warp as usize];
    // Such a product must not start before the others are finished, which was reported. It uses what they compute.
    if let Some(last) = of_warp.unfinished.iter().rposition(|product| collide(of(product), wgmma)) {
        finish(core, registers, last + 1);
    }
    let of_warp = &mut core.products.by_warp[warp as usize];
    let computed_before = of_warp.unfinished.iter().any(|product| are_in_order(of(product), wgmma));
    let c = (!computed_before).then(|| wgmma.d.iter().map(|register| *registers.words(*register)).collect());
    wgmma.d.iter().for_each(|register| registers.words_mut(*register).fill(UNFINISHED));
    let (of_d, of_a) = slots(machine.program, index);
    of_d.for_each(|slot| of_warp.in_d[slot] = pc + 1);
    of_a.for_each(|slot| of_warp.in_a[slot] = pc + 1);
    let group = of_warp.groups;
    core.products.begin(&units);
    core.products.by_warp[warp as usize].unfinished.push_back(Product { index, pc, group, adds, c, units, first_of_b });
    Ok(())
}

/// Returns the units of a matrix's rows from `first` on. All must be in the block's shared memory.
fn matrix_units(
    core: &mut Core<'_>,
    descriptors: &[u64; LANES],
    first: usize,
    rows: usize,
    transposed: bool,
    pc: u32,
) -> Result<Vec<u32>, Stop> {
    let bits = descriptors[0];
    let base = core.shared_base;
    let descriptor = Descriptor::of(bits).in_block(base);
    let refused = |core: &Core<'_>, defect| misuse(core, WgmmaMisuse::Descriptor { descriptor: bits, defect }, pc);
    if descriptors.iter().any(|other| *other != bits) {
        return Err(refused(core, DescriptorDefect::NotUniform));
    }
    let units = descriptor.units(first, rows, transposed);
    let bytes = core.machine.shared_bytes;
    if let Some(address) = units.iter().copied().find(|unit| unit + UNIT > bytes) {
        return Err(refused(core, DescriptorDefect::OutOfBounds { address, bytes }));
    }
    let reserved = Descriptor::has_reserved_bits(bits).then_some(DescriptorDefect::ReservedBits);
    let misaligned = DescriptorDefect::Misaligned { address: descriptor.start, unit: descriptor.period() };
    let defect = reserved.or((!descriptor.is_aligned()).then_some(misaligned));
    if let Some(defect) = defect {
        let defect = Defect::Wgmma(WgmmaDefect::Descriptor { descriptor: bits, defect });
        core.check(|watch, warp| watch.report(defect, pc, warp, 0));
    }
    Ok(units.into_iter().map(|unit| base + unit).collect())
}

fn misuse(core: &Core<'_>, misuse: WgmmaMisuse, pc: u32) -> Stop {
    core.stop(FindingKind::Wgmma(misuse), FULL, pc)
}

/// Finishes the warp's `count` oldest products.
fn finish(core: &mut Core<'_>, registers: &mut Registers, count: usize) {
    let program = core.machine.program;
    let warp = core.warp as usize;
    for _ in 0..count {
        let Some(mut product) = core.products.by_warp[warp].unfinished.pop_front() else { break };
        let wgmma = &program.wgmmas[product.index as usize];
        // The bytes may be read at any time until now. The start counted as a read, too.
        core.note_read(&product.units, product.pc);
        let c = product.c.take().unwrap_or_default();
        let d = compute(core, registers, wgmma, &product, &c);
        core.products.end(&product.units);
        let next = core.products.by_warp[warp].unfinished.iter_mut().find(|next| program.wgmmas[next.index as usize].d == wgmma.d);
        match next {
            Some(next) => next.c = Some(d),
            None => wgmma.d.iter().zip(&d).for_each(|(register, values)| *registers.words_mut(*register) = *values),
        }
    }
    if count > 0 {
        core.products.by_warp[warp].note_registers(program);
    }
}

/// Returns the registers of D.
fn compute(core: &Core<'_>, registers: &Registers, wgmma: &Wgmma, product: &Product, c: &[[u32; LANES]]) -> Vec<[u32; LANES]> {
    let Wgmma { shape, a_number, b_number, sum, negates, .. } = *wgmma;
    let (of_a, of_b) = product.units.split_at(product.first_of_b);
    let mut a = match wgmma.a {
        FactorA::Registers(named) => {
            let fragment = Fragment::new(Part::A, shape, a_number);
            tensor::gather(&fragment, |position| registers.words(named[position]).map(u64::from))
        }
        FactorA::Shared(_) => matrix(&core.shared, of_a, a_number, wgmma.transposes_a, ROWS_OF_WARP),
    };
    if negates {
        a.iter_mut().for_each(|factor| *factor = -*factor);
    }
    // Row by row of k, so the other way around.
    let columns = matrix(&core.shared, of_b, b_number, wgmma.transposes_b, shape.n);
    let mut b = vec![0.0; columns.len()];
    for (column, values) in columns.chunks_exact(shape.k).enumerate() {
        values.iter().enumerate().for_each(|(k, value)| b[k * shape.n + column] = *value);
    }
    let fragment = Fragment::new(Part::Accumulator, shape, sum);
    let mut d = match product.adds {
        true => tensor::gather(&fragment, |position| c[position].map(u64::from)),
        false => vec![0.0; ROWS_OF_WARP * shape.n],
    };
    tensor::add_rows(core.executor, wgmma, &a, &b, &mut d);
    let registers = (0..fragment.count()).map(|position| tensor::scattered(&fragment, position, &d, wgmma.saturates));
    registers.map(|bits| bits.map(|bits| bits as u32)).collect()
}

/// Returns the elements of a matrix in shared memory. Rows of A, or columns of B, follow each other.
fn matrix(shared: &[u32], units: &[u32], number: Number, transposed: bool, rows: usize) -> Vec<f64> {
    let per_unit = UNIT as usize / number.bytes();
    let k = per_unit * UNITS_OF_K;
    let mut matrix = vec![0.0; rows * k];
    for (position, unit) in units.iter().enumerate() {
        let words = &shared[(*unit / 4) as usize..][..UNIT as usize / 4];
        let (group, of_group) = (position / (GROUP * UNITS_OF_K), position % (GROUP * UNITS_OF_K));
        for element in 0..per_unit {
            let byte = element * number.bytes();
            let value = tensor::number_of_bits(u64::from(words[byte / 4] >> (byte % 4 * 8)), number);
            let (row, column) =
                if transposed { (element, of_group) } else { (of_group / UNITS_OF_K, of_group % UNITS_OF_K * per_unit + element) };
            matrix[(group * GROUP + row) * k + column] = value;
        }
    }
    matrix
}

impl Core<'_> {
    /// Notes that the warp's part of a product starts to read units. They are 16 bytes of shared memory each, given by their
    /// offsets, and read through the asynchronous proxy.
    fn read_units(&mut self, units: &[u32], pc: u32) -> Result<(), Stop> {
        for units in units.chunks(LANES) {
            let addresses = unit_addresses(units);
            let request = unit_request(&addresses, units.len(), pc);
            self.check_shared(&request)?;
            self.watch_async_read(&request);
        }
        Ok(())
    }

    /// Notes a read of units for the checks.
    fn note_read(&mut self, units: &[u32], pc: u32) {
        if self.watch.is_none() {
            return;
        }
        for units in units.chunks(LANES) {
            let addresses = unit_addresses(units);
            self.watch_shared_load(&unit_request(&addresses, units.len(), pc), Pattern::Other, Semantics::default());
        }
    }
}

fn unit_addresses(units: &[u32]) -> [u64; LANES] {
    std::array::from_fn(|lane| u64::from(units.get(lane).copied().unwrap_or(0)))
}

fn unit_request(addresses: &[u64; LANES], count: usize, pc: u32) -> Request<'_> {
    Request { op: AccessOp::Load, index: 0, pc, bytes: UNIT, mask: FULL >> (LANES - count), addresses }
}
