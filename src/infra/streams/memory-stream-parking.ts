// MemoryStreamParking: of a gateway that is alone: its streams are its own, and end with it.
import type { StreamParking } from '../../ports/stream-parking.ts';

export class MemoryStreamParking implements StreamParking {
  async park(): Promise<void> {
    // There is nobody who could take it.
  }

  async take(): Promise<string | undefined> {
    return undefined;
  }

  replace(): void {
    // There is nobody else.
  }

  serve(): () => void {
    return () => undefined;
  }
}
