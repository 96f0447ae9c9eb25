// Two small tools that a plan puts together.
export function weather({ city }) {
  return { city, sky: city === 'Bergen' ? 'rain' : 'clear' };
}

export function packing({ sky }) {
  return sky === 'rain' ? ['umbrella', 'boots'] : ['sunglasses'];
}
