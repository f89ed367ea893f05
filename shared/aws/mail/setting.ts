/** Whether e-mail can be sent: the stack has a sender. */
export const isMailSetUp = (): boolean => (process.env.SENDER_EMAIL ?? "") !== "";
