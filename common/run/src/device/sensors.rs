//! The state of a GPU while a row runs: clocks, power, temperature, and why the clocks are not higher. It comes from NVML, the library under
//! `nvidia-smi`, which is part of the driver.
//!
//! This is a binding of five functions. The crate `nvml-wrapper` has all of NVML, and would take longer to compile than this crate.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use cudarc::driver::sys::cuDeviceGetPCIBusId;
use libloading::Library;
use serde::{Deserialize, Serialize};

use crate::Gpu;

/// The state of a GPU at one moment. What the driver does not say is missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sensors {
    /// Clock of the multiprocessors, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_mhz: Option<u32>,
    /// Clock of the memory, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mhz: Option<u32>,
    /// Power of the board, in watts: the value of the moment, or the mean of the last second on GPUs before Hopper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<f64>,
    /// Temperature of the chip, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub celsius: Option<u32>,
    /// The reasons why the clocks are not higher, in NVML's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_by: Vec<String>,
}

/// NVML's result; zero is success.
type Status = c_int;
/// NVML's name for a GPU.
type Device = *mut c_void;

const SUCCESS: Status = 0;
/// `NVML_CLOCK_SM` and `NVML_CLOCK_MEM`
const CLOCKS: [c_uint; 2] = [1, 2];
/// `NVML_TEMPERATURE_GPU`
const CHIP: c_uint = 0;
/// `NVML_FI_DEV_POWER_INSTANT`: milliwatts.
const POWER_NOW: c_uint = 186;

/// Bits of `nvmlClocksEventReasons`, in the words of nvml.h. Idle and the clocks that an application chose hold nothing back.
const REASONS: [(c_ulonglong, &str); 6] = [
    (0x4, "SwPowerCap"),
    (0x8, "HwSlowdown"),
    (0x10, "SyncBoost"),
    (0x20, "SwThermalSlowdown"),
    (0x40, "HwThermalSlowdown"),
    (0x80, "HwPowerBrakeSlowdown"),
];

/// A value that NVML is asked for by number.
#[repr(C)]
struct FieldValue {
    field: c_uint,
    scope: c_uint,
    timestamp: i64,
    latency: i64,
    kind: c_uint,
    status: Status,
    /// A union of numbers. Power is an `unsigned int`, in its first bytes.
    value: [c_uint; 2],
}

type Init = unsafe extern "C" fn() -> Status;
type ByBusId = unsafe extern "C" fn(*const c_char, *mut Device) -> Status;
type Number = unsafe extern "C" fn(Device, c_uint, *mut c_uint) -> Status;
type Power = unsafe extern "C" fn(Device, *mut c_uint) -> Status;
type Reasons = unsafe extern "C" fn(Device, *mut c_ulonglong) -> Status;
type Fields = unsafe extern "C" fn(Device, c_int, *mut FieldValue) -> Status;

/// NVML, open for one GPU. It stays open until the process ends.
pub struct Sensor {
    library: Library,
    device: Device,
}

impl Sensor {
    /// Opens NVML for a device; `None` on the simulator and where there is no NVML.
    pub fn open(gpu: &Gpu) -> Option<Self> {
        if gpu.is_simulated() {
            return None;
        }
        let mut bus_id: [c_char; 32] = [0; 32];
        // SAFETY: the buffer is as long as the call says, and the device is the one that cudarc opened.
        let found = unsafe { cuDeviceGetPCIBusId(bus_id.as_mut_ptr(), bus_id.len() as c_int, gpu.context.cu_device()) };
        found.result().ok()?;
        let name = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };
        // SAFETY: NVML's initializers touch nothing in this process but their own memory.
        let library = unsafe { Library::new(name) }.ok()?;
        let mut device = std::ptr::null_mut();
        // SAFETY: the functions have these types in nvml.h. The name of the bus ends with a zero, and `device` is a live variable.
        let status = unsafe {
            match library.get::<Init>("nvmlInit_v2").ok()?() {
                SUCCESS => library.get::<ByBusId>("nvmlDeviceGetHandleByPciBusId_v2").ok()?(bus_id.as_ptr(), &mut device),
                failed => failed,
            }
        };
        (status == SUCCESS).then_some(Self { library, device })
    }

    /// Reads the state of this moment.
    pub fn read(&self) -> Sensors {
        let [sm_mhz, memory_mhz] = CLOCKS.map(|clock| self.number("nvmlDeviceGetClockInfo", clock));
        let watts = self.power_now().or_else(|| self.power()).map(|milliwatts| f64::from(milliwatts) / 1e3);
        Sensors { sm_mhz, memory_mhz, watts, celsius: self.number("nvmlDeviceGetTemperature", CHIP), held_by: self.reasons() }
    }

    fn number(&self, function: &str, of: c_uint) -> Option<u32> {
        let mut number = 0;
        // SAFETY: both functions that are asked for have this type in nvml.h, and `number` is a live variable.
        let status = unsafe { self.library.get::<Number>(function).ok()?(self.device, of, &mut number) };
        (status == SUCCESS).then_some(number)
    }

    fn power_now(&self) -> Option<u32> {
        let mut asked = FieldValue { field: POWER_NOW, scope: 0, timestamp: 0, latency: 0, kind: 0, status: -1, value: [0; 2] };
        // SAFETY: the function has this type in nvml.h, and `asked` is one value of the type that it fills in.
        let status = unsafe { self.library.get::<Fields>("nvmlDeviceGetFieldValues").ok()?(self.device, 1, &mut asked) };
        (status == SUCCESS && asked.status == SUCCESS).then_some(asked.value[0])
    }

    fn power(&self) -> Option<u32> {
        let mut milliwatts = 0;
        // SAFETY: the function has this type in nvml.h, and `milliwatts` is a live variable.
        let status = unsafe { self.library.get::<Power>("nvmlDeviceGetPowerUsage").ok()?(self.device, &mut milliwatts) };
        (status == SUCCESS).then_some(milliwatts)
    }

    fn reasons(&self) -> Vec<String> {
        let mut bits = 0;
        // The second name is the one before CUDA 12.2.
        let named = ["nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"];
        // SAFETY: both functions have this type in nvml.h.
        let function = named.into_iter().find_map(|name| unsafe { self.library.get::<Reasons>(name) }.ok());
        // SAFETY: `bits` is a live variable.
        let status = function.map(|function| unsafe { function(self.device, &mut bits) });
        let held = REASONS.into_iter().filter(|(bit, _)| status == Some(SUCCESS) && bits & bit != 0);
        held.map(|(_, words)| words.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_does_not_say_is_missing_in_a_record() {
        let some = Sensors { sm_mhz: Some(1980), watts: Some(512.25), ..Sensors::default() };
        let text = serde_json::to_string(&some).unwrap();
        assert_eq!(text, "{\"sm_mhz\":1980,\"watts\":512.25}");
        assert_eq!(serde_json::from_str::<Sensors>(&text).unwrap(), some);
    }

    #[test]
    fn a_value_by_number_has_the_size_that_nvml_fills_in() {
        assert_eq!(size_of::<FieldValue>(), 40);
    }
}
