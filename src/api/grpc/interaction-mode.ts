// The InteractionMode enum of proto/ and the contract's words for it.
import type { InteractionMode } from '../../contract/tool/tool-spec.ts';

const NAMES: readonly (InteractionMode | undefined)[] = [undefined, 'voice', 'text', 'live_call'];

/** Undefined for UNSPECIFIED, and for numbers that are no mode. */
export function modeName(number: number): InteractionMode | undefined {
  return NAMES[number];
}

export function modeNumber(mode: InteractionMode): number {
  return NAMES.indexOf(mode);
}
