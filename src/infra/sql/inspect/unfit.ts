// Why a statement cannot be inspected, though server and connection work: a sentence that the operator has to read.
export class Unfit extends Error {
  override readonly name = 'Unfit';
}
