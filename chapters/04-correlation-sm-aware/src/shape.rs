//! The sizes and sums that every kernel of this chapter is given, in one struct.

use cudarc::driver::DeviceRepr;
use run::workload::Correlation;

/// The argument of every kernel: `Shape` of `kernels/cuda/04-correlation.cuh`, field by field.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    image_width: i32,
    image_height: i32,
    template_width: i32,
    template_height: i32,
    corner_x: i32,
    corner_y: i32,
    columns: i32,
    rows: i32,
    template_sum: i64,
    pub(crate) template_variance: i64,
}

// SAFETY: `repr(C)` lays out the fields as the C++ compiler lays out the kernels' `Shape`, and none of them is a pointer.
unsafe impl DeviceRepr for Shape {}

impl Shape {
    /// Returns the shape with the template's sums. The CPU computes them, because they are the same for every output.
    pub(crate) fn of(correlation: &Correlation) -> Self {
        let (template_sum, template_variance) = correlation.template_sum_and_variance();
        let ((corner_x, corner_y), (columns, rows)) = (correlation.corner(), correlation.outputs());
        Self {
            image_width: correlation.image().width as i32,
            image_height: correlation.image().height as i32,
            template_width: correlation.template().width as i32,
            template_height: correlation.template().height as i32,
            corner_x,
            corner_y,
            columns: columns as i32,
            rows: rows as i32,
            template_sum,
            template_variance,
        }
    }
}
