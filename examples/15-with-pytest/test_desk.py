import desk

import evalcase


@evalcase.cases("evals/desk.eval.yaml", tag="smoke")
def test_the_desk_without_a_run(case):
    question = case.input[-1].text
    evalcase.assert_case(desk.answer(question), case)
