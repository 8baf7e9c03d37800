// The types of the simulator's interface. Numbers are exact up to 2^53, which no counter and no valid address reaches.

export type Triple = [x: number, y: number, z: number];
export interface Dim3 { x: number; y: number; z: number }
export interface SourceLine { file: string; line: number }
export interface Location { ptx_line: number; instruction: string; source: SourceLine | null; inlined_at?: SourceLine }

export interface Loaded {
  kernels: { name: string; params: { name: string; bytes: number }[]; shared_bytes: number; max_threads: number | null }[];
  variables: { name: string; bytes: number }[];
  refused: { name: string; error: Failure }[];
  target: [major: number, minor: number];
}

export type Argument =
  | Buffer
  | { buffer: Buffer; offset?: number }
  | { u32: number } | { i32: number } | { u64: number } | { f32: number } | { f64: number }
  | { bytes: number[] };

export interface Launch {
  kernel: string;
  grid: Triple;
  block: Triple;
  /** Bytes of dynamic shared memory; 0 by default. */
  shared?: number;
  /** One for each parameter, of its size. */
  arguments: Argument[];
  /** `h200` by default. */
  profile?: string;
  /** Look for races and for reads of memory that nobody wrote; true by default. */
  checks?: boolean;
  order?: "ascending" | "descending" | { shuffled: number };
  cooperative?: boolean;
  /** Warp instructions that a block may execute; 33 million by default. */
  fuel?: number;
  /** The block whose accesses are in `report.touched`. */
  trace?: Triple;
  /** The warp whose instructions are in `steps`. */
  steps?: { block?: Triple; warp?: number; limit: number };
  /** Bytes that the computation must read and write at least; with it the answer has `bound`. */
  least_bytes?: number;
}

export interface Launched {
  report: Report;
  findings: FindingText[];
  bound?: Bound;
  steps: Step[];
}

export interface Report {
  kernel: string;
  config: { grid: Dim3; block: Dim3; dynamic_shared_bytes: number };
  /** By the names of simulator/simt/src/counters.rs. */
  counters: Record<string, number>;
  /** Counts by line of CUDA source; only those that are not zero. */
  lines: { source: SourceLine | null; counters: Record<string, number> }[];
  /** The first request of each load and store of the first warp. */
  samples: Sample[];
  touched: { thread: number; op: "load" | "store" | "atomic"; address: number; bytes: number }[];
  printed: string;
  overwritten: number;
  findings: unknown[];
}

export interface Sample {
  location: Location;
  space: "global" | "shared";
  variable: string | null;
  op: "load" | "store" | "atomic";
  /** Bytes of each lane. */
  bytes: number;
  /** A bit for each active lane. */
  lanes: number;
  addresses: number[];
}

export interface FindingText { severity: "warning" | "error"; text: string; help: string | null; ptx_line: number; source: SourceLine | null }

/** `least_clocks` of a part is `amount / (rate * copies)`; the rate of memory is per second, and is taken at the clock of the profile. */
export interface Part { unit: string; amount: number; of: string; rate: number; copies: number; least_clocks: number }
export interface Bound { least_clocks: number; parts: Part[]; as_written: Part[] }

export interface Occupancy {
  registers_per_thread: number | null;
  /** 0 if not even one fits. */
  blocks_per_multiprocessor: number;
  active_warps: number;
  max_warps: number;
  /** What runs out first. */
  limits: ("warps" | "blocks" | "registers" | "shared-memory")[];
}

export interface Step {
  location: Location;
  /** A bit for each lane that executed it. */
  lanes: number;
  /** The registers that it changed; values of 64 bits are text. */
  writes: { register: string; bits: 1 | 32 | 64; values: number[] | string[] }[];
}

export interface Failure {
  kind: "request" | "syntax" | "unsupported" | "fault" | "out-of-fuel" | "misuse" | "memory";
  message: string;
  ptx_line?: number;
  source?: SourceLine;
  finding?: unknown;
  help?: string;
  printed?: string;
  /** The steps up to the defect. */
  steps?: Step[];
}

/** A request failed; the simulator goes on. Any other error means that the worker was replaced. */
export class SimulatorError extends Error { failure: Failure }
export class Canceled extends Error {}

export class Simulator {
  static open(module: string | URL | BufferSource): Promise<Simulator>;
  load(ptx: string): Promise<Loaded>;
  buffer(contents: number | ArrayBuffer | ArrayBufferView, label?: string): Promise<Buffer>;
  variable(name: string): Promise<Buffer>;
  launch(launch: Launch): Promise<Launched>;
  profiles(): Promise<{ name: string; product: string; compute_capability: [number, number]; multiprocessors: number; clock_khz: number; max_threads_per_block: number }[]>;
  /** What a block needs; `h200` by default. Without `registers`, they limit nothing. */
  occupancy(needs: { profile?: string; threads: number; registers?: number; shared_bytes?: number }): Promise<Occupancy>;
  /** Asks the check of exercises, if the module has it: checker-web. */
  check(request: object): Promise<{ passed: boolean; message: string; lines: number[]; counted: number[] } | { error: string }>;
  cancel(): void;
  close(): void;
}

export class Buffer {
  readonly bytes: number;
  readonly address: number;
  write(contents: ArrayBuffer | ArrayBufferView, offset?: number): Promise<void>;
  read(bytes?: number, offset?: number): Promise<Uint8Array>;
  floats(): Promise<Float32Array>;
  free(): Promise<void>;
}
