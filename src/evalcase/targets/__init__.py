"""Targets: whatever answers a question. Each kind is one small class in a file of its own.

What several kinds share is beneath them: `asking` (a question to what is shown or sent of it),
`reading` (what comes back to an answer), and what each sort of them stands on, `code`, `process`,
`web`, `chat`, `stored`.

A target of your own derives from `evalcase.Target`, and an object of it is given to `evaluate`:

    class Oracle(evalcase.Target):
        traits = evalcase.Traits(concurrency=2)

        async def answer(self, question: Question) -> Answer:
            return Answer.of_text(await self.client.ask(question.text))

`open` and `close` may set up and tear down, and `traits` say what the engine should know: how many
answers it can give at once, which environment variables hold its keys, whether it can be cached.

A kind that a configuration can name says more, once, as `kind`: a `TargetKind`, with the Struct
of its options. Its class is called with an object of those, which have been checked, and with its
surroundings, and keeps both. It does nothing else there: what it needs, `open` gets.

    class OracleOptions(TargetOptions, frozen=True, kw_only=True):
        host: Annotated[Text, about("Where it is.", example="oracle.example.com")]

    class OracleTarget(Target):
        kind = TargetKind("oracle", "Asks the oracle.", OracleOptions, value="host")

        def __init__(self, options: OracleOptions, surroundings: Surroundings) -> None: ...

The entry point group `evalcase.targets` makes an installed class known by a name. What is expected
of an answer is not part of a question, so no target can see it.
"""
