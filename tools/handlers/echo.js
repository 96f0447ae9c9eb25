// echo: gives back the arguments as they came. The smallest handler there is, and the one benchmarks call.

export function execute(args) {
  return args;
}
