//! Matrices between memory and the registers of a warp: `ldmatrix`, `stmatrix`, `movmatrix`, `wmma.load` and `wmma.store`.

use super::core::Core;
use super::machine::Stop;
use super::request::{Pattern, Request, lane_addresses, lanes_of};
use super::tensor;
use alu::registers::{FULL, LANES, Registers};
use alu::windows::WINDOW_OFFSET;
use ptx::finding::{AccessOp, Space};
use ptx::program::fragment::{MOST_REGISTERS, Number};
use ptx::program::{FragmentAccess, Matrices, Semantics, TensorOp};

/// Rows of a matrix of `ldmatrix`, and elements of a row.
const ROWS: usize = 8;

/// Executes an instruction that all lanes execute together.
pub fn execute(core: &mut Core<'_>, registers: &mut Registers, index: u32, pc: u32) -> Result<(), Stop> {
    match &core.machine.program.tensor_ops[index as usize] {
        TensorOp::MultiplyAdd(operation) => tensor::multiply_add(core.executor, registers, operation),
        TensorOp::LoadFragment(operation) => load_fragment(core, registers, operation, pc)?,
        TensorOp::StoreFragment(operation) => store_fragment(core, registers, operation, pc)?,
        TensorOp::LoadMatrices(operation) => move_matrices(core, registers, operation, AccessOp::Load, pc)?,
        TensorOp::StoreMatrices(operation) => move_matrices(core, registers, operation, AccessOp::Store, pc)?,
        TensorOp::Transpose { destination, source } => {
            let rows = *registers.words(*source);
            *registers.words_mut(*destination) = transposed(&rows);
        }
    }
    Ok(())
}

/// Transposes a matrix held in the lanes: lane `4 i + j` has elements `2 j` and `2 j + 1` of row `i`, and then of column `i`, or
/// the other way around.
fn transposed(held: &[u32; LANES]) -> [u32; LANES] {
    let element = |row: usize, column: usize| held[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
    std::array::from_fn(|lane| {
        let (column, row) = (lane / 4, lane % 4 * 2);
        element(row, column) | element(row + 1, column) << 16
    })
}

/// Executes `ldmatrix` and `stmatrix`. Lanes `8 i` to `8 i + 7` have the addresses of the rows of matrix `i`.
fn move_matrices(core: &mut Core<'_>, registers: &mut Registers, operation: &Matrices, op: AccessOp, pc: u32) -> Result<(), Stop> {
    let access = core.machine.program.accesses[operation.access as usize];
    let addresses = lane_addresses(registers, &access.address);
    let mask = FULL >> (LANES - ROWS * operation.count as usize);
    let request = Request { op, index: operation.access, pc, bytes: 16, mask, addresses: &addresses };
    core.admit_rows(&request, access.space)?;
    let turned = |held: [u32; LANES]| if operation.transposed { transposed(&held) } else { held };
    for (matrix, register) in access.registers.iter().enumerate().take(operation.count as usize) {
        if op == AccessOp::Load {
            *registers.words_mut(*register) = turned(std::array::from_fn(|lane| core.shared[row_word(&request, matrix, lane)]));
        } else {
            for (lane, word) in turned(*registers.words(*register)).into_iter().enumerate() {
                core.shared[row_word(&request, matrix, lane)] = word;
            }
        }
    }
    Ok(())
}

/// Returns the index of a lane's matrix word in shared memory.
fn row_word(request: &Request<'_>, matrix: usize, lane: usize) -> usize {
    request.offset(matrix * ROWS + lane / 4) as usize / 4 + lane % 4
}

impl Core<'_> {
    /// Checks and counts a request for rows. They must be in shared memory.
    fn admit_rows(&mut self, request: &Request<'_>, space: Option<Space>) -> Result<(), Stop> {
        for (space, lanes) in request.spaces(space) {
            if space != Space::Shared {
                return Err(self.out_of_bounds(Space::Shared, &request.of(lanes)));
            }
        }
        self.check_shared(request)?;
        self.count_rows(request);
        match request.op {
            AccessOp::Load => self.watch_shared_load(request, Pattern::Other, Semantics::default()),
            _ => lanes_of(request.mask).for_each(|lane| self.watch_shared_store(request, lane, Semantics::default(), false)),
        }
        Ok(())
    }
}

impl Core<'_> {
    /// Checks and counts a request for elements.
    fn admit(&mut self, space: Space, request: &Request<'_>) -> Result<(), Stop> {
        let (pattern, loads) = (request.pattern(), request.op == AccessOp::Load);
        match space {
            Space::Global | Space::Const => {
                self.check_global(request)?;
                self.count_global(request, pattern);
                if loads {
                    self.watch_global_load(request, pattern, Semantics::default());
                } else {
                    self.watch_in_flight(request, false);
                }
            }
            Space::Shared => {
                self.check_shared(request)?;
                self.count_shared(request, pattern);
                if loads {
                    self.watch_shared_load(request, pattern, Semantics::default());
                }
            }
            Space::Local | Space::Param => return Err(self.out_of_bounds(space, request)),
        }
        Ok(())
    }

    /// Reads up to 8 bytes for a lane whose request was checked.
    fn element(&mut self, space: Space, address: u64, bytes: u32) -> u64 {
        if space == Space::Shared {
            return self.shared_element((address & WINDOW_OFFSET) as u32, bytes);
        }
        // The last word of an allocation may be incomplete, so look up its first byte only.
        let region = self.machine.region(&mut self.check_hint, address, 1);
        region.map_or(0, |region| region.buffer.element(address - region.base, bytes))
    }

    /// Writes a lane's elements, one of each array. Each has `width` bytes, and the request was checked.
    fn set_elements(&mut self, space: Space, request: &Request<'_>, lane: usize, width: u32, values: &[[u64; LANES]]) {
        let first = request.addresses[lane];
        let places = (first..).step_by(width as usize).zip(values.iter().map(|values| values[lane]));
        let same = self.watch.is_some() && places.clone().all(|(address, value)| self.element(space, address, width) == value);
        if space == Space::Shared {
            self.watch_shared_store(request, lane, Semantics::default(), same);
            places.for_each(|(address, value)| self.set_shared_element((address & WINDOW_OFFSET) as u32, width, value));
            return;
        }
        let Some(region) = self.machine.region(&mut self.check_hint, first, u64::from(request.bytes)) else { return };
        let store = || places.for_each(|(address, value)| region.buffer.set_element(address - region.base, width, value));
        self.watch_global_store(request, lane, Semantics::default(), || same, store);
        region.buffer.note_written(first - region.base, u64::from(request.bytes));
    }
}

/// Elements of a fragment that are contiguous in memory: what one access moves for each lane.
struct Piece {
    part: Part,
    bytes: u32,
    addresses: [u64; LANES],
}

/// The place of a piece in the registers of a fragment.
enum Part {
    /// One element of a register, or all of them.
    Elements { register: usize, first: usize },
    /// An element in each of two registers.
    Pair { first: usize },
    /// Two elements of 16 bits of another lane's register, as they are before the matrix of 8 rows and columns is transposed.
    Transposed { register: usize },
}

/// Returns a fragment's pieces in memory, as machine code moves them: an H200's has a word for two elements of 16 bits, transposes
/// them where they are contiguous along the other direction of the matrix, and moves a pair of wider elements at once.
fn pieces(core: &Core<'_>, registers: &Registers, operation: &FragmentAccess) -> Vec<Piece> {
    let FragmentAccess { access, fragment, by_rows, stride } = operation;
    let bases = lane_addresses(registers, &core.machine.program.accesses[*access as usize].address);
    let (rows, columns) = fragment.extents();
    let (bits, width) = (fragment.number.bits() as u64, fragment.number.bytes() as u64);
    let per_register = fragment.number.per_register();
    let follow = if *by_rows { columns } else { rows };
    let strides = stride.map_or([follow as u64; LANES], |stride| registers.words(stride).map(u64::from));
    let addresses = |register: usize, element: usize| -> [u64; LANES] {
        let places = fragment.places(register, element);
        std::array::from_fn(|lane| {
            let (row, column) = places[lane];
            let (line, along) = if *by_rows { (row, column) } else { (column, row) };
            bases[lane].wrapping_add((line as u64 * strides[lane] + along as u64) * bits / 8)
        })
    };
    let is_next = |(register, element): (usize, usize)| addresses(register, element)[0] == addresses(0, 0)[0].wrapping_add(width);
    let bytes = |elements: usize| (elements as u64 * bits / 8) as u32;
    let whole = |elements: usize| {
        let parts =
            (0..fragment.count()).flat_map(move |register| (0..per_register).step_by(elements).map(move |first| (register, first)));
        parts.map(move |(register, first)| Piece {
            part: Part::Elements { register, first },
            bytes: bytes(elements),
            addresses: addresses(register, first),
        })
    };
    if per_register > 1 && (bits < 8 || is_next((0, 1))) {
        whole(per_register).collect()
    } else if width == 2 {
        let transposed = |register| {
            let held = [addresses(register, 0), addresses(register, 1)];
            // Lane `4 i + j` has elements `2 j` and `2 j + 1` of line `i`, which lanes `8 j + i / 2` and `8 j + 4 + i / 2` hold in the end.
            let addresses = std::array::from_fn(|lane| held[lane / 4 % 2][lane % 4 * 8 + lane / 8]);
            Piece { part: Part::Transposed { register }, bytes: 4, addresses }
        };
        (0..fragment.count()).map(transposed).collect()
    } else if width >= 4 && fragment.count() > 1 && is_next((1, 0)) {
        let pair = |first| Piece { part: Part::Pair { first }, bytes: bytes(2), addresses: addresses(first, 0) };
        (0..fragment.count()).step_by(2).map(pair).collect()
    } else {
        whole(1).collect()
    }
}

fn load_fragment(core: &mut Core<'_>, registers: &mut Registers, operation: &FragmentAccess, pc: u32) -> Result<(), Stop> {
    let access = core.machine.program.accesses[operation.access as usize];
    let fragment = &operation.fragment;
    let width = fragment.number.bytes() as u32;
    let mut held = [[0; LANES]; MOST_REGISTERS];
    for Piece { part, bytes, addresses } in pieces(core, registers, operation) {
        let request = Request { op: AccessOp::Load, index: operation.access, pc, bytes, mask: FULL, addresses: &addresses };
        for (space, mask) in request.spaces(access.space) {
            let request = request.of(mask);
            core.admit(space, &request)?;
            for (lane, address) in lanes_of(mask).map(|lane| (lane, addresses[lane])) {
                match part {
                    Part::Elements { register, first } => {
                        held[register][lane] |= core.element(space, address, bytes) << (8 * width * first as u32);
                    }
                    Part::Transposed { register } => held[register][lane] = core.element(space, address, bytes),
                    Part::Pair { first } => {
                        held[first][lane] = core.element(space, address, width);
                        held[first + 1][lane] = core.element(space, address + u64::from(width), width);
                    }
                }
            }
        }
        if let Part::Transposed { register } = part {
            held[register] = transposed(&held[register].map(|word| word as u32)).map(u64::from);
        }
    }
    // `wmma` may name more registers than the elements fill. The other registers repeat them.
    let (count, named) = (fragment.count(), fragment.count_of_wmma());
    for (position, register) in fragment.registers.iter().enumerate().take(named) {
        registers.set_lanes(fragment.number.kind(), *register, &held[position % count]);
    }
    Ok(())
}

fn store_fragment(core: &mut Core<'_>, registers: &Registers, operation: &FragmentAccess, pc: u32) -> Result<(), Stop> {
    let access = core.machine.program.accesses[operation.access as usize];
    let fragment = &operation.fragment;
    let width = fragment.number.bytes() as u32;
    let held = |register: usize| match fragment.number {
        Number::F64 => *registers.doubles(fragment.registers[register]),
        _ => registers.words(fragment.registers[register]).map(u64::from),
    };
    for Piece { part, bytes, addresses } in pieces(core, registers, operation) {
        let (size, values) = match part {
            Part::Elements { register, first } => {
                let field = u64::MAX >> (64 - 8 * bytes);
                (bytes, &[held(register).map(|value| value >> (8 * width * first as u32) & field)][..])
            }
            Part::Transposed { register } => (bytes, &[transposed(&held(register).map(|word| word as u32)).map(u64::from)][..]),
            Part::Pair { first } => (width, &[held(first), held(first + 1)][..]),
        };
        let request = Request { op: AccessOp::Store, index: operation.access, pc, bytes, mask: FULL, addresses: &addresses };
        for (space, mask) in request.spaces(access.space) {
            let request = request.of(mask);
            core.admit(space, &request)?;
            for lane in lanes_of(mask) {
                core.set_elements(space, &request, lane, size, values);
            }
        }
    }
    Ok(())
}
