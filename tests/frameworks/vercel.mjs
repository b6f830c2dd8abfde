// What the AI SDK makes of a service's replies, as JSON: node vercel.mjs WHAT TOOLS URL.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, readUIMessageStream, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [what, which, url] = process.argv.slice(2);
const model = createOpenAI({ baseURL: url, apiKey: "none" }).chat("heron-2-mini");
const ferry = (execute) => ({
  find_ferry: tool({
    description: "Find a ferry.",
    inputSchema: z.object({ origin: z.string(), destination: z.string(), day: z.string() }),
    ...(execute && { execute }),
  }),
  hold_cabin: tool({
    description: "Hold a cabin.",
    inputSchema: z.object({ sailing: z.string(), berths: z.number() }),
    ...(execute && { execute: async () => "held" }),
  }),
});
const tools = {
  none: undefined,
  asked: ferry(),
  called: ferry(async ({ day }) => ({ departs: `${day} 19:00` })),
  failed: ferry(async () => { throw new Error("no timetable"); }),
}[which];
const given = { model, tools, prompt: "What is next?", maxRetries: 0, stopWhen: stepCountIs(3) };
const generated = () => generateText(given);
const streamed = () => streamText({ ...given, onError: () => {} });
const collect = async (parts) => {
  const all = [];
  for await (const part of parts) all.push(part);
  return all;
};

const recipes = {
  result: async () => {
    const { text, toolCalls, toolResults, finishReason, usage, steps } = await generated();
    return { text, toolCalls, toolResults, finishReason, usage, steps };
  },
  content: async () => (await generated()).content,
  messages: async () => (await generated()).response.messages,
  parts: () => collect(streamed().fullStream),
  ui: async () =>
    (await collect(readUIMessageStream({ stream: streamed().toUIMessageStream() }))).at(-1),
  sse: () => streamed().toUIMessageStreamResponse().text(),
};
const value = await recipes[what]();
process.stdout.write(typeof value === "string" ? value : JSON.stringify(value));
