// What is wrong with an expression, and where in it.

export class ExpressionFault extends Error {
  /** Counted from 1, in characters of the expression. */
  readonly column: number | undefined;

  constructor(message: string, column?: number) {
    super(column === undefined ? message : `${message} (at character ${column} of the expression)`);
    this.name = 'ExpressionFault';
    this.column = column;
  }
}
