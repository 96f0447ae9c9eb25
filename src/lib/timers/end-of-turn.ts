/**
 * What is done at the end of this turn of the event loop: the answers that are ready leave, and then what nobody waits
 * for is done. By `setImmediate` alone it would go in the order in which it was asked for, and a call's record, which is
 * made before its answer, would hold the answer up.
 */
type Task = () => void;

let answers: Task[] = [];
let afterwards: Task[] = [];
let isSet = false;

/** Sends an answer together with all that are ready by then. */
export function answerAtEndOfTurn(send: Task): void {
  answers.push(send);
  set();
}

/** Once the answers have left. */
export function afterAnswers(task: Task): void {
  afterwards.push(task);
  set();
}

function set(): void {
  if (isSet) return;
  isSet = true;
  setImmediate(endTurn);
}

/** What these ask for meanwhile is of the next turn. */
function endTurn(): void {
  const tasks = [answers, afterwards];
  answers = [];
  afterwards = [];
  isSet = false;
  for (const list of tasks) for (const task of list) runAlone(task);
}

/** One that throws ends the process as it would by itself, and none of the others. */
function runAlone(task: Task): void {
  try {
    task();
  } catch (error) {
    setImmediate(() => {
      throw error;
    });
  }
}
