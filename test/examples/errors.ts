// Handles errors by class.
import { ApiStatusError, AsyncSounding, ConnectionError, NotFoundError, TimeoutError } from "@sounding/client";

const sounding = new AsyncSounding({ timeout: 30 });
try {
  await sounding.chat.completions.create({
    model: "no-such-model",
    messages: [{ role: "user", content: "What is a fathom?" }],
  });
} catch (error) {
  if (error instanceof NotFoundError) console.log(`There is no such model (${error.code}).`);
  else if (error instanceof ApiStatusError) console.log(`Refused with ${error.status}, request ${error.requestId}.`);
  else if (error instanceof TimeoutError) console.log("It took too long.");
  else if (error instanceof ConnectionError) console.log("The server cannot be reached.");
  else throw error;
}
