// Compiles CUDA C in the page. The compiler is not part of the simulator: a site may leave it out.

/** @returns PTX. */
export async function compileCuda() {
  throw new Error("this site has no compiler; you can change the PTX");
}
