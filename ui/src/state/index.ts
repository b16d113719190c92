export * from "./apply";
export { needsDecision as waitsForWord } from "./applyTurn";
export * from "./conversation";
export { messageId } from "./deleted";
export * from "./events";
export * from "./looks";
export * from "./phase";
export * from "./sentences";
export * from "./turn";
