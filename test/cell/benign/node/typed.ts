interface Answer {
  value: number;
}
const answer: Answer = { value: 42 };
if (answer.value !== 42) throw new Error('types changed what runs');
