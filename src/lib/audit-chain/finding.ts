// What is wrong with a chain: the kind of damage, and the first record that shows it.
export type Damage = 'altered' | 'missing' | 'reordered' | 'truncated_tail' | 'forked' | 'bad_signature';

export interface Finding {
  readonly damage: Damage;
  /** Of a record, or of the one that a checkpoint is about. */
  readonly seq: number;
  readonly message: string;
}

export function found(damage: Damage, seq: number, message: string): Finding {
  return { damage, seq, message };
}
