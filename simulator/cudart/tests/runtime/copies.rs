//! Copies between arrays and memory, in all their forms, compared with a model of the array.

use crate::support::*;

api! {
    fn cudaMemcpy2D(target: u64, target_pitch: usize, source: u64, source_pitch: usize, width: usize, height: usize, kind: u32);
    fn cudaMemcpy2DToArray(array: Array, x: usize, y: usize, source: u64, pitch: usize, width: usize, height: usize, kind: u32);
    fn cudaMemcpy2DFromArray(target: u64, pitch: usize, array: Array, x: usize, y: usize, width: usize, height: usize, kind: u32);
    fn cudaMemcpy2DToArrayAsync(
        array: Array, x: usize, y: usize, source: u64, pitch: usize, width: usize, height: usize, kind: u32, stream: Stream,
    );
    fn cudaMemcpy2DFromArrayAsync(
        target: u64, pitch: usize, array: Array, x: usize, y: usize, width: usize, height: usize, kind: u32, stream: Stream,
    );
    fn cudaMemcpy2DArrayToArray(
        target: Array, to_x: usize, to_y: usize, source: Array, from_x: usize, from_y: usize, width: usize, height: usize, kind: u32,
    );
    fn cudaMemcpyToArray(array: Array, x: usize, y: usize, source: u64, bytes: usize, kind: u32);
    fn cudaMemcpyFromArray(target: u64, array: Array, x: usize, y: usize, bytes: usize, kind: u32);
    fn cudaMemcpyToArrayAsync(array: Array, x: usize, y: usize, source: u64, bytes: usize, kind: u32, stream: Stream);
    fn cudaMemcpyFromArrayAsync(target: u64, array: Array, x: usize, y: usize, bytes: usize, kind: u32, stream: Stream);
    fn cudaMemcpyArrayToArray(
        target: Array, to_x: usize, to_y: usize, source: Array, from_x: usize, from_y: usize, bytes: usize, kind: u32,
    );
    fn cudaMemcpy3DAsync(parameters: &Copy3D, stream: Stream);
    fn cudaMemcpy3DPeer(parameters: &Peer);
    fn cudaMemcpy3DBatchAsync(count: usize, operations: *const Operation, third: usize, fourth: u64, fifth: Stream);
    fn cudaMemcpyBatchAsync(
        targets: *const u64, sources: *const u64, sizes: *const usize, count: usize, attributes: *const Attributes, starts: *const usize,
        attribute_count: usize, next: usize, last: Stream,
    );
    fn cudaMemcpyWithAttributesAsync(target: u64, source: u64, bytes: usize, attributes: *const Attributes, stream: Stream);
    fn cudaMemcpy3DWithAttributesAsync(operation: *const Operation, flags: u64, stream: Stream);
    fn cudaMallocPitch(address: &mut u64, pitch: &mut usize, width: usize, height: usize);
    fn cudaMalloc3D(memory: &mut Pitched, extent: Extent);
    fn cudaMemset3D(memory: Pitched, value: i32, extent: Extent);
}

/// `cudaMemcpy3DPeerParms`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Peer {
    source_array: Array,
    source_start: [usize; 3],
    source: Pitched,
    source_device: i32,
    target_array: Array,
    target_start: [usize; 3],
    target: Pitched,
    target_device: i32,
    extent: Extent,
}

/// `cudaMemcpy3DOperand`: of memory (1) or an array (2).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Operand {
    kind: u32,
    place: u64,
    sizes: [usize; 3],
}

/// `cudaMemcpy3DBatchOp`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Operation {
    source: Operand,
    target: Operand,
    extent: Extent,
    order: u32,
    flags: u32,
}

/// `cudaMemcpyAttributes`
#[repr(C)]
pub struct Attributes {
    order: u32,
    hints: [[i32; 2]; 2],
    flags: u32,
}

const WIDTH: usize = 6;
const HEIGHT: usize = 4;

/// A 2D array of `u16` and what must be in it.
struct Modelled {
    array: Array,
    model: Vec<u16>,
}

impl Modelled {
    fn new(first: u16) -> Self {
        let model: Vec<u16> = (first..first + (WIDTH * HEIGHT) as u16).collect();
        Self { array: array(SHORT, [WIDTH, HEIGHT, 0], 0, &model), model }
    }

    /// Returns where the elements of a box are.
    fn places([x, y]: [usize; 2], [width, height]: [usize; 2]) -> impl Iterator<Item = usize> {
        (y..y + height).flat_map(move |row| (x..x + width).map(move |column| row * WIDTH + column))
    }

    fn put(&mut self, start: [usize; 2], sides: [usize; 2], values: impl IntoIterator<Item = u16>) {
        Self::places(start, sides).zip(values).for_each(|(place, value)| self.model[place] = value);
        self.check();
    }

    fn part(&self, start: [usize; 2], sides: [usize; 2]) -> Vec<u16> {
        Self::places(start, sides).map(|place| self.model[place]).collect()
    }

    fn check(&self) {
        assert_eq!(contents::<u16>(self.array, [WIDTH, HEIGHT, 0]), self.model);
    }
}

#[test]
fn boxes_go_into_an_array_and_out_of_it() {
    let mut image = Modelled::new(100);
    let mut stream = 0;
    returns! { cudaStreamCreate(&mut stream) => OK; }
    // Rows of 5 elements, of which 3 are copied. `x` is in bytes.
    let values: Vec<u16> = (0..10).collect();
    let picked = [0, 1, 2, 5, 6, 7];
    returns! { cudaMemcpy2DToArray(image.array, 4, 1, at(&values), 10, 6, 2, TO_DEVICE) => OK; }
    image.put([2, 1], [3, 2], picked);
    let on_device = on_device(&values);
    returns! {
        cudaMemcpy2DToArrayAsync(image.array, 0, 2, on_device, 10, 6, 2, ON_DEVICE, stream) => OK;
        cudaStreamSynchronize(stream) => OK;
    }
    image.put([0, 2], [3, 2], picked);
    let mut found = [9_u16; 8];
    returns! { cudaMemcpy2DFromArray(into(&mut found), 8, image.array, 6, 1, 6, 2, TO_HOST) => OK; }
    let part = image.part([3, 1], [3, 2]);
    assert_eq!(found, [part[0], part[1], part[2], 9, part[3], part[4], part[5], 9]);
    returns! {
        cudaMemcpy2DFromArrayAsync(on_device, 4, image.array, 2, 3, 4, 1, DEFAULT, stream) => OK;
        cudaStreamSynchronize(stream) => OK;
    }
    assert_eq!(back::<u16>(on_device, 2), image.part([1, 3], [2, 1]));
}

#[test]
fn bytes_go_on_in_the_next_row_of_an_array() {
    let mut image = Modelled::new(200);
    let mut stream = 0;
    returns! { cudaStreamCreate(&mut stream) => OK; }
    // From the middle of a row through a whole row into another one.
    let values: Vec<u16> = (0..11).collect();
    returns! { cudaMemcpyToArray(image.array, 8, 0, at(&values), 22, TO_DEVICE) => OK; }
    image.model[4..15].copy_from_slice(&values);
    image.check();
    let mut found = [0_u16; 9];
    returns! { cudaMemcpyFromArray(into(&mut found), image.array, 6, 1, 18, TO_HOST) => OK; }
    assert_eq!(found[..], image.model[9..18]);
    // Whole rows at once.
    let rows = on_device(&[7_u16; 12]);
    returns! {
        cudaMemcpyToArrayAsync(image.array, 0, 2, rows, 24, ON_DEVICE, stream) => OK;
        cudaStreamSynchronize(stream) => OK;
    }
    image.model[12..24].fill(7);
    image.check();
    returns! {
        cudaMemcpyFromArrayAsync(into(&mut found), image.array, 0, 0, 16, TO_HOST, stream) => OK;
        cudaStreamSynchronize(stream) => OK;
    }
    assert_eq!(found[..8], image.model[..8]);
    let line = array(SHORT, [12, 0, 0], 0, &(50..62).collect::<Vec<u16>>());
    returns! { cudaMemcpyArrayToArray(image.array, 10, 0, line, 4, 0, 16, ON_DEVICE) => OK; }
    image.model[5..13].copy_from_slice(&(52..60).collect::<Vec<u16>>());
    image.check();
}

#[test]
fn a_box_goes_from_an_array_to_another() {
    let (mut to, from) = (Modelled::new(300), Modelled::new(400));
    returns! { cudaMemcpy2DArrayToArray(to.array, 2, 1, from.array, 4, 2, 6, 2, ON_DEVICE) => OK; }
    to.put([1, 1], [3, 2], from.part([2, 2], [3, 2]));
}

#[test]
fn the_places_of_a_box_of_an_array_are_in_elements() {
    let sides = [5, 4, 3];
    let mut model: Vec<f32> = (0..60).map(|at| at as f32).collect();
    let volume = array(FLOAT, sides, 0, &model);
    // 2 x 2 x 2 elements out of 3 x 3 x 2: memory starts in bytes.
    let values: Vec<f32> = (1000..1018).map(|at| at as f32).collect();
    let source = Pitched { address: at(&values), pitch: 12, width: 3, height: 3 };
    let copy = Copy3D {
        source,
        source_start: [4, 1, 0],
        target_array: volume,
        target_start: [3, 2, 1],
        extent: extent([2, 2, 2]),
        // "[…] cudaMemcpy3D() will disregard that implication and silently correct the kind": the array is not on the host.
        kind: TO_HOST - 2,
        ..Copy3D::default()
    };
    let mut stream = 0;
    returns! {
        cudaStreamCreate(&mut stream) => OK;
        cudaMemcpy3DAsync(&copy, stream) => OK;
        cudaStreamSynchronize(stream) => OK;
    }
    for (z, y, x) in (0..8).map(|at| (at / 4, at / 2 % 2, at % 2)) {
        model[(z + 1) * 20 + (y + 2) * 5 + x + 3] = values[z * 9 + (y + 1) * 3 + x + 1];
    }
    assert_eq!(contents::<f32>(volume, sides), model);
    let other = array(FLOAT, sides, 0, &[0.0_f32; 60]);
    let peer = Peer { source_array: volume, target_array: other, extent: extent([5, 4, 2]), ..Peer::default() };
    returns! {
        cudaMemcpy3DPeer(&peer) => OK;
        cudaMemcpy3DPeer(&Peer { source_device: 1, ..peer }) => INVALID_DEVICE;
        // The box ends outside of the array.
        cudaMemcpy3DPeer(&Peer { target_start: [0, 0, 2], ..peer }) => INVALID_VALUE;
        cudaMemcpy3DPeer(&Peer { target_start: [0, 1, 0], ..peer }) => INVALID_VALUE;
        cudaMemcpy3DPeer(&Peer { target_start: [1, 0, 0], ..peer }) => INVALID_VALUE;
        // "Passing more than one non-zero source or destination will cause cudaMemcpy3D() to return an error."
        cudaMemcpy3D(&Copy3D { source_array: other, source_start: [0; 3], kind: DEFAULT, ..copy }) => INVALID_VALUE;
        cudaMemcpy3D(&Copy3D { kind: 5, ..copy }) => 21;
    }
    model[40..].fill(0.0);
    assert_eq!(contents::<f32>(other, sides), model);
    // "[…] will return an error if they do not have the same element size."
    let bytes = array(BYTE, sides, 0, &[0_u8; 60]);
    returns! { cudaMemcpy3DPeer(&Peer { target_array: bytes, extent: extent([1, 1, 1]), ..peer }) => INVALID_VALUE; }
}

#[test]
fn batches_copy_rows_and_boxes() {
    let (mut stream, mut failed) = (0, [0_usize]);
    let failed_at = into(&mut failed) as usize;
    returns! { cudaStreamCreate(&mut stream) => OK; }
    let (from, to) = (on_device(&[1_u32, 2, 3, 4]), on_device(&[0_u32; 4]));
    let attributes = Attributes { order: 1, hints: [[0; 2]; 2], flags: 0 };
    let (targets, sources, sizes) = ([to, to + 12], [from + 8, from], [8, 4]);
    returns! {
        cudaMemcpyBatchAsync(targets.as_ptr(), sources.as_ptr(), sizes.as_ptr(), 2, &attributes, &0, 1, failed_at, stream) => OK;
        cudaStreamSynchronize(stream) => OK;
        cudaMemcpyBatchAsync(targets.as_ptr(), sources.as_ptr(), sizes.as_ptr(), 0, &attributes, &0, 1, failed_at, stream) => INVALID_VALUE;
    }
    assert_eq!(back::<u32>(to, 4), [3, 4, 0, 1]);

    let mut image = Modelled::new(500);
    let values: Vec<u16> = (0..10).collect();
    // Rows of 5 elements, of which 2 are copied.
    let source = Operand { kind: 1, place: at(&values), sizes: [5, 2, 0] };
    let target = Operand { kind: 2, place: image.array as u64, sizes: [3, 1, 0] };
    let operation = Operation { source, target, extent: extent([2, 2, 1]), order: 2, flags: 0 };
    let both = [operation, Operation { order: 0, ..operation }];
    returns! {
        cudaMemcpy3DBatchAsync(1, &operation, failed_at, 0, stream) => OK;
        cudaStreamSynchronize(stream) => OK;
        cudaMemcpy3DBatchAsync(2, both.as_ptr(), failed_at, 0, stream) => INVALID_VALUE;
        cudaMemcpy3DBatchAsync(1, &operation, 0, 0, 0) => INVALID_VALUE;
    }
    assert_eq!(failed, [1]);
    image.put([3, 1], [2, 2], [0, 1, 5, 6]);
    let target = Operand { sizes: [0, 0, 0], ..target };
    returns! {
        cudaMemcpyWithAttributesAsync(to, from, 4, &attributes, stream) => OK;
        cudaMemcpy3DWithAttributesAsync(&Operation { target, ..operation }, 0, stream) => OK;
        cudaStreamSynchronize(stream) => OK;
        cudaMemcpyWithAttributesAsync(to, from, 4, std::ptr::null(), stream) => INVALID_VALUE;
        cudaMemcpy3DWithAttributesAsync(&operation, 1, stream) => INVALID_VALUE;
    }
    image.put([0, 0], [2, 2], [0, 1, 5, 6]);
    assert_eq!(back::<u32>(to, 1), [1]);
}

#[test]
fn copies_outside_of_an_array_are_refused() {
    let image = Modelled::new(600);
    let mut values = [0_u16; 100];
    let here = into(&mut values);
    returns! {
        cudaMemcpy2DToArray(image.array, 2, 0, here, 12, 12, 1, TO_DEVICE) => INVALID_VALUE;
        cudaMemcpy2DToArray(image.array, 0, 3, here, 12, 12, 2, TO_DEVICE) => INVALID_VALUE;
        cudaMemcpy2DToArray(image.array, 0, 0, here, 10, 12, 1, TO_DEVICE) => INVALID_PITCH;
        cudaMemcpy2DToArray(0, 0, 0, here, 12, 12, 1, TO_DEVICE) => INVALID_VALUE;
        cudaMemcpy2DToArray(image.array, 0, 0, here, 12, 12, 1, 9) => 21;
        cudaMemcpy2DFromArray(here, 12, image.array, 0, 4, 12, 1, TO_HOST) => INVALID_VALUE;
        cudaMemcpyToArray(image.array, 0, 3, here, 14, TO_DEVICE) => INVALID_VALUE;
        cudaMemcpyFromArray(here, image.array, 12, 0, 2, TO_HOST) => INVALID_VALUE;
        cudaFreeArray(image.array) => OK;
        cudaMemcpyFromArray(here, image.array, 0, 0, 2, TO_HOST) => INVALID_RESOURCE_HANDLE;
    }
}

#[test]
fn rows_of_pitched_memory_are_copied_and_filled() {
    let (mut address, mut pitch) = (0, 0);
    returns! { cudaMallocPitch(&mut address, &mut pitch, 12, 3) => OK; }
    assert!(pitch >= 12 && pitch.is_multiple_of(512), "{pitch}");
    let values: Vec<f32> = (0..9).map(|at| at as f32).collect();
    returns! { cudaMemcpy2D(address, pitch, at(&values), 12, 12, 3, TO_DEVICE) => OK; }
    assert_eq!(back::<f32>(address + 2 * pitch as u64, 3), values[6..]);
    let mut box_of_bytes = Pitched::default();
    returns! {
        cudaMalloc3D(&mut box_of_bytes, extent([10, 3, 2])) => OK;
        cudaMemset3D(box_of_bytes, 1, extent([10, 3, 2])) => OK;
        cudaMemset3D(Pitched { address: box_of_bytes.address + 4, ..box_of_bytes }, 7, extent([2, 2, 2])) => OK;
        cudaMemcpy2D(address, pitch, at(&values), 8, 12, 3, TO_DEVICE) => INVALID_PITCH;
    }
    let second = box_of_bytes.address + 3 * box_of_bytes.pitch as u64;
    assert_eq!(back::<u8>(second, 7), [1, 1, 1, 1, 7, 7, 1]);
    assert_eq!(back::<u8>(second + 2 * box_of_bytes.pitch as u64, 7), [1; 7]);
}

#[test]
fn batches_of_cuda_13_have_one_argument_less() {
    with_cuda_13("copies::batches_of_cuda_13_have_one_argument_less", || {
        let mut stream = 0;
        returns! { cudaStreamCreate(&mut stream) => OK; }
        let (from, to) = (on_device(&[1_u32, 2]), on_device(&[0_u32; 2]));
        let attributes = Attributes { order: 1, hints: [[0; 2]; 2], flags: 0 };
        let memory = |place| Operand { kind: 1, place, sizes: [0; 3] };
        let operation = Operation { source: memory(from), target: memory(to + 4), extent: extent([4, 1, 1]), order: 1, flags: 0 };
        returns! {
            cudaMemcpyBatchAsync(&to, &from, &4, 1, &attributes, &0, 1, stream, 99) => OK;
            cudaMemcpy3DBatchAsync(1, &operation, 0, stream as u64, 99) => OK;
            cudaStreamSynchronize(stream) => OK;
            cudaMemcpyBatchAsync(&to, &from, &4, 1, &attributes, &0, 1, 0, stream) => INVALID_VALUE;
            cudaMemcpy3DBatchAsync(1, &operation, 1, stream as u64, stream) => INVALID_VALUE;
        }
        assert_eq!(back::<u32>(to, 2), [1, 1]);
    });
}
